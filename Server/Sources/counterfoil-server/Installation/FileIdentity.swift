import CoreFoundation
import Foundation

/// The identity of a file, whatever its name.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// The identity as text, which a copy of the file does not have.
    var text: String { "\(device) \(inode)" }

    /// Reads the identity of the file to which a path leads; nil if there is none.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the identity of an open file; nil if the system does not say it.
    init?(ofFileOpenAs descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}
