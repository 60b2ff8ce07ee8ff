// The parts of the C library of macOS and iOS that the client uses, with the types and values of the manual pages and
// headers that Apple publishes. A function or constant that is missing here fails the check: add it, as Apple has it.

#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// sys/types.h
typedef int32_t pid_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint16_t mode_t;
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef uint16_t nlink_t;
typedef int64_t off_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef long ssize_t;
typedef long time_t;
typedef int32_t suseconds_t;
typedef unsigned int nfds_t;
typedef unsigned int useconds_t;

// sys/errno.h
extern int *__error(void);
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define ECHILD 10
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EINPROGRESS 36
#define EPROTONOSUPPORT 43
#define ENOTSUP 45
#define EAFNOSUPPORT 47
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETUNREACH 51
#define ECONNABORTED 53
#define ECONNRESET 54
#define ENOBUFS 55
#define ENOTCONN 57
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define ELOOP 62
#define ENAMETOOLONG 63
#define EHOSTUNREACH 65
#define EDQUOT 69

// string.h
extern char *strerror(int number);
extern void *memcpy(void *destination, const void *source, size_t count);
extern void *memset(void *block, int byte, size_t count);
extern int memcmp(const void *first, const void *second, size_t count);
extern size_t strlen(const char *text);
extern size_t strnlen(const char *text, size_t count);
extern char *_Nullable strdup(const char *text);

// stdlib.h
extern void free(void *_Nullable block);
extern char *_Nullable getenv(const char *name);
extern int setenv(const char *name, const char *value, int overwrites);
extern int unsetenv(const char *name);
extern char *_Nullable realpath(const char *path, char *_Nullable resolved);
extern _Noreturn void exit(int status);
extern _Noreturn void _exit(int status);
extern uint32_t arc4random(void);
extern void arc4random_buf(void *buffer, size_t count);
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

// stdio.h
extern int rename(const char *old, const char *new_);

// time.h and sys/time.h
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6, _CLOCK_MONOTONIC_RAW = 4 } clockid_t;
#define CLOCK_REALTIME _CLOCK_REALTIME
#define CLOCK_MONOTONIC _CLOCK_MONOTONIC
#define CLOCK_MONOTONIC_RAW _CLOCK_MONOTONIC_RAW
extern int clock_gettime(clockid_t clock, struct timespec *time);
extern time_t time(time_t *_Nullable time);

// sys/stat.h
struct stat {
    dev_t st_dev; mode_t st_mode; nlink_t st_nlink; ino_t st_ino; uid_t st_uid; gid_t st_gid; dev_t st_rdev;
    struct timespec st_atimespec; struct timespec st_mtimespec; struct timespec st_ctimespec;
    struct timespec st_birthtimespec; off_t st_size; blkcnt_t st_blocks; blksize_t st_blksize; uint32_t st_flags;
    uint32_t st_gen; int32_t st_lspare; int64_t st_qspare[2];
};
extern int stat(const char *path, struct stat *facts);
extern int lstat(const char *path, struct stat *facts);
extern int fstat(int descriptor, struct stat *facts);
extern int fchmod(int descriptor, mode_t mode);
extern int chmod(const char *path, mode_t mode);
extern int mkdir(const char *path, mode_t mode);
extern char *_Nullable mkdtemp(char *path);
extern int mkfifo(const char *path, mode_t mode);
extern mode_t umask(mode_t mask);

// fcntl.h and sys/file.h; open and fcntl are variadic, and Swift has functions for them
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x00000004
#define O_APPEND 0x00000008
#define O_NOFOLLOW 0x00000100
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_NOCTTY 0x00020000
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define F_SETNOSIGPIPE 73
#define F_BARRIERFSYNC 85
#define FD_CLOEXEC 1
#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
extern int flock(int descriptor, int operation);

// unistd.h
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define W_OK 2
#define X_OK 1
#define R_OK 4
extern int access(const char *path, int mode);
extern int close(int descriptor);
extern ssize_t read(int descriptor, void *_Nullable buffer, size_t count);
extern ssize_t write(int descriptor, const void *_Nullable buffer, size_t count);
extern ssize_t pwrite(int descriptor, const void *_Nullable buffer, size_t count, off_t offset);
extern ssize_t pread(int descriptor, void *_Nullable buffer, size_t count, off_t offset);
#define SEEK_CUR 1
extern off_t lseek(int descriptor, off_t offset, int whence);
extern int fsync(int descriptor);
extern int ftruncate(int descriptor, off_t length);
extern int unlink(const char *path);
extern int rmdir(const char *path);
extern int link(const char *path, const char *other);
extern int symlink(const char *path, const char *other);
extern ssize_t readlink(const char *path, char *buffer, size_t count);
extern int dup(int descriptor);
extern int dup2(int descriptor, int other);
extern int pipe(int *_Nonnull ends);
extern int isatty(int descriptor);
extern pid_t getpid(void);
extern pid_t getppid(void);
extern uid_t getuid(void);
extern uid_t geteuid(void);
extern gid_t getgid(void);
extern gid_t getegid(void);
extern int usleep(useconds_t microseconds);
extern unsigned int sleep(unsigned int seconds);
extern int gethostname(char *name, size_t count);
extern pid_t setsid(void);
extern pid_t getpgrp(void);
extern pid_t getpgid(pid_t process);

// pwd.h
struct passwd {
    char *pw_name; char *pw_passwd; uid_t pw_uid; gid_t pw_gid; time_t pw_change; char *pw_class; char *pw_gecos;
    char *pw_dir; char *pw_shell; time_t pw_expire;
};
extern struct passwd *_Nullable getpwuid(uid_t user);
extern int getpwuid_r(
    uid_t user, struct passwd *entry, char *buffer, size_t count, struct passwd *_Nullable *_Nonnull result);

// poll.h
struct pollfd { int fd; short events; short revents; };
#define POLLIN 0x0001
#define POLLPRI 0x0002
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
#define POLLNVAL 0x0020
extern int poll(struct pollfd *_Nullable descriptors, nfds_t count, int timeout);

// termios.h and sys/ioctl.h
typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
struct termios {
    tcflag_t c_iflag; tcflag_t c_oflag; tcflag_t c_cflag; tcflag_t c_lflag; cc_t c_cc[20]; speed_t c_ispeed;
    speed_t c_ospeed;
};
#define ECHO 0x00000008
#define ECHONL 0x00000010
#define ISIG 0x00000080
#define ICANON 0x00000100
#define TCSANOW 0
#define TCSADRAIN 1
#define TCSAFLUSH 2
#define VMIN 16
#define VTIME 17
extern int tcgetattr(int descriptor, struct termios *settings);
extern int tcsetattr(int descriptor, int when, const struct termios *settings);
struct winsize { unsigned short ws_row; unsigned short ws_col; unsigned short ws_xpixel; unsigned short ws_ypixel; };
#define TIOCGWINSZ 0x40087468UL

// signal.h
typedef uint32_t sigset_t;
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGKILL 9
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCONT 19
#define SIGCHLD 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGXFSZ 25
#define SIGWINCH 28
#define SIGUSR1 30
#define SIGUSR2 31
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
typedef void (*sig_t)(int);
extern sig_t _Nullable signal(int number, sig_t _Nullable handler);
extern int kill(pid_t process, int number);
union sigval { int sival_int; void *_Nullable sival_ptr; };
typedef struct __siginfo {
    int si_signo; int si_errno; int si_code; pid_t si_pid; uid_t si_uid; int si_status; void *_Nullable si_addr;
    union sigval si_value; long si_band; unsigned long __pad[7];
} siginfo_t;
union __sigaction_u {
    void (*_Nullable __sa_handler)(int);
    void (*_Nullable __sa_sigaction)(int, struct __siginfo *_Nullable, void *_Nullable);
};
struct sigaction { union __sigaction_u __sigaction_u; sigset_t sa_mask; int sa_flags; };
#define SA_RESTART 0x0002
#define SA_SIGINFO 0x0040
#define SI_USER 0x10001
extern int sigaction(int number, const struct sigaction *_Nullable action, struct sigaction *_Nullable former);
extern int raise(int number);
extern int sigemptyset(sigset_t *set);
extern int sigfillset(sigset_t *set);
extern int sigaddset(sigset_t *set, int number);
extern int sigprocmask(int how, const sigset_t *_Nullable set, sigset_t *_Nullable former);

// sys/wait.h
#define WNOHANG 0x00000001
#define WEXITED 0x00000004
#define WNOWAIT 0x00000020
typedef uint32_t id_t;
typedef enum { P_ALL, P_PID, P_PGID } idtype_t;
extern int waitid(idtype_t type, id_t identifier, siginfo_t *information, int options);
extern pid_t waitpid(pid_t process, int *_Nullable status, int options);

// spawn.h: both types are pointers, and Swift imports them as optional ones
typedef void *_Nullable posix_spawnattr_t;
typedef void *_Nullable posix_spawn_file_actions_t;
#define POSIX_SPAWN_RESETIDS 0x0001
#define POSIX_SPAWN_SETPGROUP 0x0002
#define POSIX_SPAWN_SETSIGDEF 0x0004
#define POSIX_SPAWN_SETSIGMASK 0x0008
#define POSIX_SPAWN_SETSID 0x0400
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
extern int posix_spawn(
    pid_t *_Nullable process, const char *path, const posix_spawn_file_actions_t *_Nullable actions,
    const posix_spawnattr_t *_Nullable attributes, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nullable environment);
extern int posix_spawnp(
    pid_t *_Nullable process, const char *name, const posix_spawn_file_actions_t *_Nullable actions,
    const posix_spawnattr_t *_Nullable attributes, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nullable environment);
extern int posix_spawn_file_actions_init(posix_spawn_file_actions_t *_Nonnull actions);
extern int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *_Nonnull actions);
extern int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *_Nonnull actions, int descriptor, int other);
extern int posix_spawn_file_actions_addopen(
    posix_spawn_file_actions_t *_Nonnull actions, int descriptor, const char *path, int flags, mode_t mode);
extern int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *_Nonnull actions, int descriptor);
extern int posix_spawnattr_init(posix_spawnattr_t *_Nonnull attributes);
extern int posix_spawnattr_destroy(posix_spawnattr_t *_Nonnull attributes);
extern int posix_spawnattr_setflags(posix_spawnattr_t *_Nonnull attributes, short flags);
extern int posix_spawnattr_setpgroup(posix_spawnattr_t *_Nonnull attributes, pid_t group);
extern int posix_spawnattr_setsigmask(posix_spawnattr_t *_Nonnull attributes, const sigset_t *_Nonnull set);
extern int posix_spawnattr_setsigdefault(posix_spawnattr_t *_Nonnull attributes, const sigset_t *_Nonnull set);

// dlfcn.h
#define RTLD_LAZY 0x1
#define RTLD_NOW 0x2
#define RTLD_LOCAL 0x4
extern void *_Nullable dlopen(const char *_Nullable path, int mode);
extern int dlclose(void *handle);
extern void *_Nullable dlsym(void *_Nullable handle, const char *name);

// sys/resource.h
typedef uint64_t rlim_t;
struct rlimit { rlim_t rlim_cur; rlim_t rlim_max; };
#define RLIMIT_CORE 4
#define RLIMIT_NOFILE 8
extern int getrlimit(int resource, struct rlimit *limit);
extern int setrlimit(int resource, const struct rlimit *limit);

// sys/socket.h, sys/un.h, netinet/in.h, netinet/tcp.h and arpa/inet.h
typedef uint8_t sa_family_t;
typedef uint32_t socklen_t;
typedef uint32_t in_addr_t;
typedef uint16_t in_port_t;
struct sockaddr { uint8_t sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_storage {
    uint8_t ss_len; sa_family_t ss_family; char __ss_pad1[6]; int64_t __ss_align; char __ss_pad2[112];
};
struct sockaddr_un { unsigned char sun_len; sa_family_t sun_family; char sun_path[104]; };
struct in_addr { in_addr_t s_addr; };
struct in6_addr { union { uint8_t __u6_addr8[16]; uint16_t __u6_addr16[8]; uint32_t __u6_addr32[4]; } __u6_addr; };
struct sockaddr_in {
    uint8_t sin_len; sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; char sin_zero[8];
};
struct sockaddr_in6 {
    uint8_t sin6_len; sa_family_t sin6_family; in_port_t sin6_port; uint32_t sin6_flowinfo; struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};
struct linger { int l_onoff; int l_linger; };
extern const struct in6_addr in6addr_any;
extern const struct in6_addr in6addr_loopback;
#define INADDR_ANY ((uint32_t)0x00000000)
#define INADDR_LOOPBACK ((uint32_t)0x7f000001)
#define INET_ADDRSTRLEN 16
#define INET6_ADDRSTRLEN 46
#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 30
#define PF_UNIX AF_UNIX
#define PF_INET AF_INET
#define PF_INET6 AF_INET6
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_KEEPALIVE 0x0008
#define SO_LINGER 0x0080
#define SO_SNDTIMEO 0x1005
#define SO_RCVTIMEO 0x1006
#define SO_ERROR 0x1007
#define SO_NOSIGPIPE 0x1022
#define SOMAXCONN 128
#define IPPROTO_TCP 6
#define IPPROTO_IPV6 41
#define IPV6_V6ONLY 27
#define TCP_NODELAY 0x01
#define MSG_PEEK 0x2
#define MSG_DONTWAIT 0x80
#define MSG_NOSIGNAL 0x80000
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
extern int socket(int domain, int type, int protocol);
extern int socketpair(int domain, int type, int protocol, int *_Nonnull ends);
extern int bind(int socket, const struct sockaddr *_Nonnull address, socklen_t length);
extern int listen(int socket, int backlog);
extern int accept(int socket, struct sockaddr *_Nullable address, socklen_t *_Nullable length);
extern int connect(int socket, const struct sockaddr *_Nonnull address, socklen_t length);
extern int shutdown(int socket, int how);
extern ssize_t send(int socket, const void *_Nullable buffer, size_t count, int flags);
extern ssize_t recv(int socket, void *_Nullable buffer, size_t count, int flags);
extern int getsockname(int socket, struct sockaddr *_Nullable address, socklen_t *_Nullable length);
extern int getpeername(int socket, struct sockaddr *_Nullable address, socklen_t *_Nullable length);
extern int getsockopt(int socket, int level, int name, void *_Nullable value, socklen_t *_Nullable length);
extern int setsockopt(int socket, int level, int name, const void *_Nullable value, socklen_t length);
extern int getpeereid(int socket, uid_t *_Nonnull user, gid_t *_Nonnull group);
extern int inet_pton(int family, const char *text, void *address);
extern const char *_Nullable inet_ntop(int family, const void *address, char *text, socklen_t length);

// pthread.h
#if defined(__LP64__)
struct _opaque_pthread_t { long __sig; void *__cleanup_stack; char __opaque[8176]; };
struct _opaque_pthread_attr_t { long __sig; char __opaque[56]; };
#endif
typedef struct _opaque_pthread_t *pthread_t;
typedef struct _opaque_pthread_attr_t pthread_attr_t;
extern int pthread_create(
    pthread_t _Nullable *_Nonnull thread, const pthread_attr_t *_Nullable attributes,
    void *_Nullable (*_Nonnull body)(void *_Nonnull), void *_Nullable argument);
extern int pthread_join(pthread_t thread, void *_Nullable *_Nullable result);
extern int pthread_detach(pthread_t thread);
extern int pthread_attr_init(pthread_attr_t *attributes);
extern int pthread_attr_destroy(pthread_attr_t *attributes);
extern int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);
extern int pthread_sigmask(int how, const sigset_t *_Nullable set, sigset_t *_Nullable former);
#define PTHREAD_CREATE_DETACHED 2

#pragma clang assume_nonnull end
