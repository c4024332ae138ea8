// C++20: latch, barrier with a completion step, counting_semaphore with timed acquire,
// binary_semaphore, atomic wait and notify, jthread with stop_token, condition_variable_any.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void latches() {
    std::latch ready(3), go(1);
    std::atomic<int> passed{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            ready.count_down();
            go.wait();
            passed++;
        });
    ready.wait();
    int before = passed;
    go.count_down();
    threads.clear();
    std::printf("latch: before %d, after %d, try_wait %d\n", before, passed.load(), go.try_wait());
}

static void barriers() {
    int phases = 0, parts[3] = {}, sums[4] = {};
    auto complete = [&]() noexcept { sums[phases++] = parts[0] + parts[1] + parts[2]; };
    std::barrier barrier(3, complete);
    std::vector<std::jthread> threads;
    for (int me = 0; me < 3; ++me)
        threads.emplace_back([&, me] {
            for (int phase = 0; phase < 4; ++phase) {
                parts[me] += me + 1;
                barrier.arrive_and_wait();
            }
        });
    threads.clear();
    std::printf("barrier: phases %d, sums %d %d %d %d\n", phases, sums[0], sums[1], sums[2], sums[3]);
}

static void semaphores() {
    std::counting_semaphore<4> slots(2);
    bool first = slots.try_acquire(), second = slots.try_acquire(), third = slots.try_acquire();
    auto begin = std::chrono::steady_clock::now();
    bool timed = slots.try_acquire_for(15ms);
    bool late = std::chrono::steady_clock::now() - begin >= 15ms;
    slots.release(2);
    std::printf("semaphore: %d%d%d, timed %d %s, again %d\n", first, second, third, timed,
                late ? "late enough" : "too early", slots.try_acquire_for(1s));
    std::binary_semaphore ping(0), pong(0);
    int rallies = 0;
    std::jthread player([&] {
        for (int i = 0; i < 20; ++i) {
            ping.acquire();
            rallies++;
            pong.release();
        }
    });
    for (int i = 0; i < 20; ++i) {
        ping.release();
        pong.acquire();
    }
    std::printf("ping-pong: %d\n", rallies);
}

static void atomic_waits() {
    std::atomic<int> stage{0};
    std::atomic_flag flag;
    std::jthread other([&] {
        stage.wait(0);
        stage.store(2);
        stage.notify_all();
        flag.wait(false);
    });
    stage.store(1);
    stage.notify_one();
    stage.wait(1);
    flag.test_and_set();
    flag.notify_one();
    std::printf("atomic wait: stage %d\n", stage.load());
}

static void stops() {
    std::mutex lock;
    std::condition_variable_any never;
    bool stopped = false;
    int callbacks = 0;
    {
        std::jthread worker([&](std::stop_token token) {
            std::stop_callback count(token, [&] { callbacks++; });
            std::unique_lock<std::mutex> guard(lock);
            stopped = !never.wait(guard, token, [] { return false; });
        });
    }  // Requests the stop and joins.
    std::printf("jthread: stopped %d, callbacks %d\n", stopped, callbacks);
}

int main() {
    latches();
    barriers();
    semaphores();
    atomic_waits();
    stops();
}
