import CoreFoundation
import Foundation

/// The lock that prevents two servers from running on one data directory.
///
/// The operating system releases the lock when the process ends, even if it is killed.
final class ServingLock: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Acquires an exclusive lock on a file (`flock`), without waiting.
    ///
    /// - Parameter refusal: The message of the failure if another process holds the lock.
    init(path: String, orRefuse refusal: String) throws {
        self.path = path
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw CommandFailure.refused("cannot open the lock file \(path): \(String(cString: strerror(errno)))")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno
                close(descriptor)
                guard reason == EWOULDBLOCK else {
                    throw CommandFailure.refused("cannot lock the file \(path): \(String(cString: strerror(reason)))")
                }
                throw CommandFailure.temporary(refusal)
            }
            var (own, named) = (stat(), stat())
            if fstat(descriptor, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino,
                own.st_dev == named.st_dev
            {
                self.descriptor = descriptor
                return
            }
            // The process that held the lock has removed the file.
            close(descriptor)
        }
    }

    /// Removes the file, on which the lock is still held.
    func remove() { unlink(path) }

    deinit { close(descriptor) }
}
