import Foundation

/// A listening Unix socket at a path.
///
/// Only the user and the group of the server can connect to it (mode 0660). The socket appears at its path
/// when it listens already, in place of one that a former process has left.
struct UnixSocket {
    /// An error that prevents listening at a path.
    enum Refusal: Error, Hashable, CustomStringConvertible {
        case notAbsolute(String)
        case tooLong(String)
        /// The file at the path is not a socket.
        case taken(String)
        /// Another process accepts connections at the path.
        case inUse(String)
        case failed(String, reason: String)

        var description: String {
            switch self {
            case .notAbsolute(let path): "the path of a Unix socket must be absolute: \(path)"
            case .tooLong(let path): "the path of a Unix socket is too long for this system: \(path)"
            case .taken(let path): "\(path) exists and is not a socket; choose another path, or remove the file"
            case .inUse(let path): "another program listens at \(path); stop it, or choose another path"
            case .failed(let path, let reason):
                "cannot listen at \(path) (\(reason)); check that the directory exists and this user may write to it"
            }
        }
    }

    let path: String
    let descriptor: Int32
    /// The device and the number of the file, to recognize it when the server stops.
    private let file: FileNumber?

    private struct FileNumber: Equatable {
        let device: Int
        let number: Int

        init?(at path: String) {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeSocket,
                let device = attributes[.systemNumber] as? NSNumber,
                let number = attributes[.systemFileNumber] as? NSNumber
            else { return nil }
            self.device = device.intValue
            self.number = number.intValue
        }
    }

    /// Listens at a path.
    init(at path: String, backlog: Int32) throws(Refusal) {
        guard path.hasPrefix("/") else { throw .notAbsolute(path) }
        self.path = path
        // Only a socket that nothing listens at is replaced.
        if (try? FileManager.default.attributesOfItem(atPath: path)) != nil {
            guard FileNumber(at: path) != nil else { throw .taken(path) }
            let probe = try Self.open(path)
            defer { close(probe) }
            // A program that is busy accepts later, so a full queue (EAGAIN) says that one listens.
            _ = fcntl(probe, F_SETFL, O_NONBLOCK)
            if try Self.call(connect, probe, path) == 0 || [EAGAIN, EWOULDBLOCK, EINPROGRESS].contains(errno) {
                throw .inUse(path)
            }
            guard errno == ECONNREFUSED else { throw .failed(path, reason: Self.reason) }
        }
        // The rename is atomic: clients find the former socket or this one, never a socket with other permissions.
        let draft = path + ".\(getpid())"
        unlink(draft)
        descriptor = try Self.open(path)
        // Another user who can write to the directory can put a link there meanwhile.
        guard try Self.call(bind, descriptor, draft) == 0,
            fchmodat(AT_FDCWD, draft, 0o660, AT_SYMLINK_NOFOLLOW) == 0, listen(descriptor, backlog) == 0,
            rename(draft, path) == 0
        else {
            let reason = Self.reason
            unlink(draft)
            close(descriptor)
            throw .failed(path, reason: reason)
        }
        file = FileNumber(at: path)
    }

    /// Deletes the file, unless another process has replaced it meanwhile.
    func remove() {
        if let file, FileNumber(at: path) == file { unlink(path) }
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func open(_ path: String) throws(Refusal) -> Int32 {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw .failed(path, reason: reason) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Linux takes the permissions of the file from those of the socket.
        fchmod(descriptor, 0o600)
        return descriptor
    }

    /// Calls `bind` or `connect` with the address of a path.
    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ path: String
    ) throws(Refusal) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count, !bytes.contains(0) else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw .tooLong(path) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
