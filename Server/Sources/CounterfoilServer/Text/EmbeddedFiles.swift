import CEmbeddedFiles

extension [UInt8] {
    /// Copies the content of a file that is part of the program.
    init(_ file: embedded_file) { self.init(UnsafeBufferPointer(start: file.bytes, count: file.count)) }
}
