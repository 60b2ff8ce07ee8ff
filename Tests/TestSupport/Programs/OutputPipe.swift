import Foundation

/// A pipe for one output stream of a program.
package struct OutputPipe: Sendable {
    package struct CannotOpen: Error {
        package init() {}
    }

    private let readingEnd: Int32
    package let writingEnd: Int32

    package init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CannotOpen() }
        // A program that another test starts at the same time must not inherit the writing end.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readingEnd, writingEnd) = (ends[0], ends[1])
    }

    /// Reads everything until the program ends; `onLine` receives each complete line as it is written.
    package func text(onLine: @escaping @Sendable (String) -> Void = { _ in }) async -> String {
        close(writingEnd)
        let (chunks, chunk) = AsyncStream.makeStream(of: [UInt8].self)
        Thread.detachNewThread { [readingEnd] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(readingEnd, &buffer, buffer.count), count > 0 {
                chunk.yield(Array(buffer[..<count]))
            }
            close(readingEnd)
            chunk.finish()
        }
        var all: [UInt8] = []
        var line: [UInt8] = []
        for await bytes in chunks {
            all += bytes
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                onLine(String(decoding: line, as: UTF8.self))
                line.removeAll()
            }
        }
        return String(decoding: all, as: UTF8.self)
    }
}
