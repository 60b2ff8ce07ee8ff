import Foundation

/// The lock that prevents two servers from running on one data directory.
///
/// The operating system releases the lock when the process ends, even if it is killed.
final class ServingLock: Sendable {
    private let descriptor: Int32
    private let path: String

    /// The number of attempts to lock a file that other processes remove meanwhile.
    private static let tries = 10

    /// Acquires an exclusive lock on a file (`flock`), without waiting.
    ///
    /// - Parameter refusal: The message of the failure if another process holds the lock.
    init(path: String, orRefuse refusal: String) throws {
        self.path = path
        for _ in 1...Self.tries {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else {
                let reason = errno == ELOOP ? "it is a link; delete it" : String(cString: strerror(errno))
                throw CommandFailure.refused("cannot open the lock file \(path): \(reason)")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno
                close(descriptor)
                guard reason == EWOULDBLOCK else {
                    throw CommandFailure.refused("cannot lock the file \(path): \(String(cString: strerror(reason)))")
                }
                throw CommandFailure.temporary(refusal)
            }
            if let own = FileIdentity(ofFileOpenAs: descriptor), own == FileIdentity(of: path) {
                self.descriptor = descriptor
                return
            }
            // The process that held the lock has removed the file.
            close(descriptor)
        }
        throw CommandFailure.temporary("cannot lock the file \(path): it was replaced again and again; try again")
    }

    /// Removes the file, on which the lock is still held.
    func remove() { unlink(path) }

    deinit { close(descriptor) }
}
