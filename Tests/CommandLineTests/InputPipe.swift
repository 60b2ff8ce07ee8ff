import Foundation

/// The standard input of a program, written by a test.
final class InputPipe: Sendable {
    /// The end from which the program reads.
    let readingEnd: Int32
    private let writingEnd: Int32

    /// The failure of the system to create a pipe.
    struct Failure: Error {}

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure() }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readingEnd, writingEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readingEnd)
        close(writingEnd)
    }

    func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Foundation.write(writingEnd, bytes, bytes.count)
    }
}
