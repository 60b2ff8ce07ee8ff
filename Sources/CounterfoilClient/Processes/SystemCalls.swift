import CounterfoilPlatform

// System calls under other names, for types that have a method of the same name, which hides the system call.

/// Calls `read(2)`.
package func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

/// Calls `write(2)`.
package func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}

/// Calls `bind(2)`.
func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}

/// Calls `listen(2)`.
func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

/// Calls `connect(2)`.
func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}

/// Calls `exit(3)`.
package func systemExit(_ status: Int32) -> Never { exit(status) }

/// Calls `close(2)`.
func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

/// Reads until the end of the input or `limit` bytes.
package func systemReadAll(_ descriptor: Int32, limit: Int = .max) throws(SystemCallError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count < limit {
        let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw .latest }
        guard count > 0 else { break }
        bytes += buffer[..<count]
    }
    return bytes
}
