// Read-copy-update of a configuration: the updater publishes a new copy by one atomic store, but
// the reader loads the pointer once for each field and may mix two configurations.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

namespace {
struct Config {
    int host;
    int port;
};

const Config initial{1, 1001};
const Config updated{2, 1002};
std::atomic<const Config *> current{&initial};
std::atomic<bool> mixed{false};

void connect() {
    int host = current.load()->host;  //~ first
    int port = current.load()->port;  //~ second
    if (port != 1000 + host) {
        std::fprintf(stderr, "host %d with port %d\n", host, port);
        mixed = true;
    }
}

void update() {
    current.store(&updated);  //~ remote
}
}  // namespace

int main() {
    std::thread reader(connect), updater(update);
    reader.join();
    updater.join();
    if (mixed) return 1;
    std::printf("port %d\n", current.load()->port);
}
