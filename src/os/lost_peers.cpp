#include "convoke/os/lost_peers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

namespace convoke::os {
namespace {

// The signal does not tell which write failed, but a pipe without a reader is in the state POLLERR. Makes
// only async-signal-safe calls.
void handle_broken_pipe(int signal) {
  const int error = errno;
  pollfd streams[]{{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  const bool answered = poll(streams, 2, 0) > 0;
  if (answered && ((streams[0].revents | streams[1].revents) & POLLERR) != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // arrives when this handler returns
  }
  errno = error;
}

}  // namespace

void survive_broken_pipes() {
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = handle_broken_pipe;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
}

namespace {

template <class T>
std::optional<T> option_of(int socket, int level, int name) {
  T value{};
  socklen_t bytes = sizeof value;
  if (getsockopt(socket, level, name, &value, &bytes) != 0) return std::nullopt;
  return value;
}

void set(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);
}

// Returns the address of the other end; empty for loopback, and for other descriptors than connected TCP
// sockets.
std::string peer_of(int socket) {
  if (option_of<int>(socket, SOL_SOCKET, SO_TYPE) != SOCK_STREAM) return {};
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& peer = reinterpret_cast<const sockaddr_in&>(address);
    if (ntohl(peer.sin_addr.s_addr) >> 24 == 127) return {};
    return inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size());
  }
  if (address.ss_family == AF_INET6) {
    const auto& peer = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_LOOPBACK(&peer.sin6_addr)) return {};
    return inet_ntop(AF_INET6, &peer.sin6_addr, text.data(), text.size());
  }
  return {};
}

// Without keep-alive, an idle connection never notices that its peer is gone.
void let_kernel_ask(int socket, int seconds) {
  if (option_of<int>(socket, SOL_SOCKET, SO_KEEPALIVE).value_or(1) != 0) return;
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / 4));
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 4));
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 100);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
}

bool is_silent(int socket, double seconds) {
  const std::optional<tcp_info> info = option_of<tcp_info>(socket, IPPROTO_TCP, TCP_INFO);
  if (!info || info->tcpi_state != TCP_ESTABLISHED) return false;
  const bool asks = info->tcpi_retransmits > 0 || info->tcpi_probes > 0;
  return asks && info->tcpi_last_ack_recv > 1000 * seconds;
}

}  // namespace

std::vector<std::string> silent_peers(double seconds) {
  std::vector<std::string> peers;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const std::string name = entry.path().filename().string();
    int socket = -1;
    std::from_chars(name.data(), name.data() + name.size(), socket);
    const std::string peer = peer_of(socket);
    if (peer.empty()) continue;
    let_kernel_ask(socket, static_cast<int>(seconds));
    if (is_silent(socket, seconds) && std::find(peers.begin(), peers.end(), peer) == peers.end())
      peers.push_back(peer);
  }
  return peers;
}

}  // namespace convoke::os
