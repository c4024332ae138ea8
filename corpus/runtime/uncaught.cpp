// An exception that nobody catches, in a second thread: std::terminate, SIGABRT.
#include <cstdio>
#include <stdexcept>
#include <thread>

int main() {
    std::puts("before");
    std::fflush(stdout);
    std::thread t([] { throw std::runtime_error("uncaught on purpose"); });
    t.join();
    std::puts("not reached");
}
