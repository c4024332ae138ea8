// The fixed cart: add() takes the recursive mutex first, and the methods it calls take it again.
#include <cstdio>
#include <mutex>
#include <thread>

class Cart {
public:
    int count() {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        return count_;
    }

    bool full() {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        return count() >= limit;
    }

    bool add(int amount) {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        if (full()) return false;
        insert(amount);
        return true;
    }

    static constexpr int limit = 2;

private:
    void insert(int amount) {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        count_ += amount;
    }

    std::recursive_mutex lock_;
    int count_ = 1;
};

int main() {
    Cart cart;
    bool added[2];
    std::thread a([&] { added[0] = cart.add(1); });
    std::thread b([&] { added[1] = cart.add(1); });
    a.join();
    b.join();
    if (cart.count() > Cart::limit) {
        std::fprintf(stderr, "%d in a cart for %d\n", cart.count(), Cart::limit);
        return 1;
    }
    std::printf("added %d, in the cart %d\n", added[0] + added[1], cart.count());
}
