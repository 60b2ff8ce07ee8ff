import Foundation

/// The lock that prevents two servers from running on one data directory.
///
/// The operating system releases the lock when the process ends, even if it is killed.
final class ServingLock: Sendable {
    private let descriptor: Int32

    /// Acquires an exclusive lock on a file (`flock`), without waiting.
    ///
    /// - Parameter refusal: The message of the failure if another process holds the lock.
    init(path: String, orRefuse refusal: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.refused("cannot open the lock file \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // `deinit` closes the descriptor, also after this error.
            let reason = errno
            guard reason == EWOULDBLOCK else {
                throw CommandFailure.refused("cannot lock the file \(path): \(String(cString: strerror(reason)))")
            }
            throw CommandFailure.temporary(refusal)
        }
    }

    deinit { close(descriptor) }
}
