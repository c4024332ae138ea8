// Right: a spin lock made of an atomic flag protects plain data that is read, written and read again.
// There is no lock to be seen, only exchange and store on a flag; its values exclude every
// interruption.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {
class SpinLock {
public:
    void lock() {
        while (held_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> held_{false};
} spin;

struct {
    int deposits = 0;
    int balance = 0;
} account;

void deposit(int amount) {
    spin.lock();
    int before = account.balance;
    account.deposits++;
    account.balance = before + amount;
    spin.unlock();
}

void worker(int amount) {
    for (int i = 0; i < 4; ++i) deposit(amount);
}
}  // namespace

int main() {
    std::thread a(worker, 1), b(worker, 10);
    a.join();
    b.join();
    std::printf("deposits %d, balance %d\n", account.deposits, account.balance);
    return account.deposits != 8 || account.balance != 44;
}
