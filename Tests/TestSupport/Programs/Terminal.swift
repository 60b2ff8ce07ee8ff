@_spi(Counterfoil) package import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
package import Foundation

/// A pseudoterminal in which a program runs, with a user who types and reads.
package final class Terminal: Sendable {
    private let device: Int32
    /// The end of the terminal that a program gets as its standard streams.
    package let programEnd: Int32
    private let shown = Mutex<[UInt8]>([])

    /// The failure of the system to create a pseudoterminal.
    package struct Failure: Error {}

    package init() throws {
        device = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // Linux: unlock the other end, and ask for its number.
        var (locked, number): (Int32, UInt32) = (0, 0)
        let isReady = ioctl(device, 0x4004_5431, &locked) == 0 && ioctl(device, 0x8004_5430, &number) == 0
        programEnd = isReady ? open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC) : -1
        guard programEnd >= 0 else { throw Failure() }
        Thread.detachNewThread { [self] in read() }
    }

    /// Closes the end of the program in this process; the terminal then ends with the last program that uses it.
    package func end() {
        close(programEnd)
    }

    deinit { close(device) }

    /// The output on the terminal so far.
    package var text: String { String(decoding: shown.withLock { $0 }, as: UTF8.self) }

    /// Gives the terminal a size, which is unknown before.
    package func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(programEnd, UInt(TIOCSWINSZ), &size)
    }

    /// The settings of the terminal that a program changes when it hides what the user types.
    package var modes: UInt32 {
        var settings = termios()
        tcgetattr(programEnd, &settings)
        return UInt32(settings.c_lflag)
    }

    /// Whether the terminal shows what the user types.
    package var echoes: Bool { modes & UInt32(ECHO) != 0 }

    /// Types text, with `\u{3}` for Control-C.
    package func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(device, bytes, bytes.count)
    }

    /// Runs `counterfoil` with the terminal as its standard input and standard error, and as its standard output too
    /// unless `output` is given.
    package func run(
        _ arguments: [String], home: URL, environment: [String: String] = [:], output: Int32? = nil,
        started: (ChildProcess) async throws -> Void = { _ in }
    ) async throws -> Int32 {
        try await run(
            .client, arguments, home: home, environment: environment, output: output, started: started)
    }

    /// Runs a program with the terminal as its standard streams, as above.
    package func run(
        _ product: Product, _ arguments: [String], home: URL, environment: [String: String] = [:],
        output: Int32? = nil, started: (ChildProcess) async throws -> Void = { _ in }
    ) async throws -> Int32 {
        let process = try ChildProcess(
            path: try product.executable.path, arguments: arguments,
            environment: ["HOME": home.path, "PATH": "/usr/bin:/bin", "COLUMNS": "80", "TERM": "xterm"]
                .merging(environment) { $1 },
            standardInput: programEnd, standardOutput: output ?? programEnd, standardError: programEnd)
        try await started(process)
        return await process.exitStatus ?? -1
    }

    /// Waits until the terminal shows a text.
    package func shows(_ wanted: String) async throws {
        _ = try await Waiting.until("'\(wanted)' on the terminal, which shows: \(text)") {
            text.contains(wanted) ? true : nil
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Foundation.read(device, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            shown.withLock { $0 += buffer[..<count] }
        }
    }
}
