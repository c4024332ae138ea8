// A shopping cart on a std::recursive_mutex, so that methods may call each other. add() relies on
// the methods it calls to lock and forgets to lock itself: between limit check and insertion another
// thread adds, and the cart holds more than its limit.
#include <cstdio>
#include <mutex>
#include <thread>

class Cart {
public:
    int count() {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        return count_;  //~ first
    }

    bool full() {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        return count() >= limit;
    }

    bool add(int amount) {
        if (full()) return false;
        insert(amount);
        return true;
    }

    static constexpr int limit = 2;

private:
    void insert(int amount) {
        std::lock_guard<std::recursive_mutex> guard(lock_);
        count_ += amount;  //~ remote second
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
