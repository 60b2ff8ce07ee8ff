import CounterfoilPlatform

/// The error of a system call (`errno`).
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    let code: Int32

    /// The error of the latest system call of this thread.
    static var latest: SystemCallError { SystemCallError(code: errno) }

    /// The text of the system for the error.
    package var description: String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}
