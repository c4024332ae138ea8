// The fixed reader: it loads the pointer once and takes every field from that copy.
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
    const Config *config = current.load();
    int host = config->host;
    int port = config->port;
    if (port != 1000 + host) {
        std::fprintf(stderr, "host %d with port %d\n", host, port);
        mixed = true;
    }
}

void update() {
    current.store(&updated);
}
}  // namespace

int main() {
    std::thread reader(connect), updater(update);
    reader.join();
    updater.join();
    if (mixed) return 1;
    std::printf("port %d\n", current.load()->port);
}
