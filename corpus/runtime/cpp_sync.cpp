// C++11 to 17: timed, recursive and shared mutexes, scoped_lock, condition variables with timeouts,
// promise, future, packaged_task, async; exceptions that cross threads.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <class F> static auto elsewhere(F f) { return std::async(std::launch::async, f).get(); }

static void mutexes() {
    std::timed_mutex timed;
    std::recursive_timed_mutex recursive;
    std::shared_timed_mutex shared;
    timed.lock();
    recursive.lock();
    shared.lock_shared();
    std::printf("timed: try %d, for %d\n", elsewhere([&] { return timed.try_lock(); }),
                elsewhere([&] { return timed.try_lock_for(10ms); }));
    std::printf("recursive: own %d, other %d\n", recursive.try_lock_for(1s),
                elsewhere([&] { return recursive.try_lock_until(std::chrono::system_clock::now() + 5ms); }));
    bool reader = elsewhere([&] {
        bool got = shared.try_lock_shared_for(1s);
        if (got) shared.unlock_shared();
        return got;
    });
    std::printf("shared: reader %d, writer %d\n", reader, elsewhere([&] { return shared.try_lock_for(5ms); }));
    recursive.unlock();
    recursive.unlock();
    shared.unlock_shared();
    timed.unlock();
    std::mutex a, b, c;
    int together = 0;
    auto f = [&] { for (int i = 0; i < 50; ++i) { std::scoped_lock guard(a, b, c); together++; } };
    auto g = [&] { for (int i = 0; i < 50; ++i) { std::scoped_lock guard(c, a, b); together++; } };
    std::thread t(f), u(g);
    t.join();
    u.join();
    std::printf("scoped_lock: %d\n", together);
}

static void conditions() {
    std::mutex lock;
    std::condition_variable condition;
    std::unique_lock<std::mutex> guard(lock);
    auto begin = std::chrono::steady_clock::now();
    bool fulfilled = condition.wait_for(guard, 20ms, [] { return false; });
    bool late = std::chrono::steady_clock::now() - begin >= 20ms;
    auto status = condition.wait_until(guard, std::chrono::system_clock::now() - 1s);
    std::printf("wait_for: %d, %s; wait_until the past: %s\n", fulfilled, late ? "late enough" : "too early",
                status == std::cv_status::timeout ? "timeout" : "no timeout");
}

static void futures() {
    std::promise<int> value, failure;
    std::thread t([&] {
        value.set_value(42);
        try {
            throw std::domain_error("across threads");
        } catch (...) {
            failure.set_exception(std::current_exception());
        }
    });
    std::printf("promise: %d\n", value.get_future().get());
    try {
        failure.get_future().get();
    } catch (const std::domain_error &e) {
        std::printf("promise: %s\n", e.what());
    }
    t.join();
    std::packaged_task<int(std::vector<int>)> task(
        [](std::vector<int> v) { return std::accumulate(v.begin(), v.end(), 0); });
    auto sum = task.get_future();
    std::thread(std::move(task), std::vector<int>{1, 2, 3}).join();
    std::printf("packaged_task: %d\n", sum.get());
    auto lazy = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
    std::printf("deferred: %s\n", lazy.get() == std::this_thread::get_id() ? "same thread" : "?");
    auto thrower = std::async(std::launch::async, []() -> int { throw std::string("thrown in a task"); });
    try {
        thrower.get();
    } catch (const std::string &s) {
        std::printf("async: %s\n", s.c_str());
    }
    std::promise<void> late;
    auto waiting = late.get_future().share();
    std::printf("wait_for: %s\n", waiting.wait_for(10ms) == std::future_status::timeout ? "timeout" : "?");
    try {
        std::promise<int> broken;
        auto f = broken.get_future();
        { std::promise<int> dropped(std::move(broken)); }
        f.get();
    } catch (const std::future_error &e) {
        std::printf("broken promise: %s\n", e.code() == std::future_errc::broken_promise ? "yes" : "?");
    }
}

int main() {
    mutexes();
    conditions();
    futures();
}
