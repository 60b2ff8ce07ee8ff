@_spi(Counterfoil) import CounterfoilClient
import Foundation

/// A QR code as a program shows it: pixels that another program, zbarimg, reads.
package struct DrawnQRCode: Sendable {
    /// The rows of pixels; true is black.
    private let rows: [[Bool]]
    /// Whether the drawing sets black and white by escape sequences.
    package let isColored: Bool

    /// An error: zbarimg found no code.
    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
    }

    /// Whether to run the tests that read codes: if zbarimg is installed, and always in CI.
    package static var canBeRead: Bool {
        let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
        return inCI || FileManager.default.isExecutableFile(atPath: reader)
    }

    private static let reader =
        ["/opt/homebrew/bin", "/usr/local/bin"].map { "\($0)/zbarimg" }
        .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/usr/bin/zbarimg"
    private static let (black, reset) = ("\u{1B}[30;47m", "\u{1B}[0m")

    /// Creates a code of pixels.
    package init(rows: [[Bool]]) {
        self.rows = rows
        isColored = false
    }

    /// Finds a code in the output of a program, as a dark terminal shows it; nil if there is none.
    package init?(in output: String) {
        let lines = output.split(whereSeparator: \.isNewline).map(String.init)
        let drawn = lines.filter { line in
            let blocks = Self.blocks(line)
            return blocks.count >= 29 && blocks.allSatisfy { " ▀▄█".contains($0) }
        }
        guard !drawn.isEmpty else { return nil }
        let isColored = drawn.allSatisfy { $0.hasPrefix(Self.black) && $0.hasSuffix(Self.reset) }
        self.isColored = isColored
        // Text is black if the drawing says so, and white on a dark terminal.
        rows = drawn.flatMap { line in
            let blocks = Self.blocks(line)
            return [
                blocks.map { "▀█".contains($0) == isColored }, blocks.map { "▄█".contains($0) == isColored },
            ]
        }
    }

    private static func blocks(_ line: String) -> String {
        line.replacingOccurrences(of: black, with: "").replacingOccurrences(of: reset, with: "")
    }

    /// The numbers of columns and of lines on the terminal.
    package var size: (columns: Int, lines: Int) { (rows.first?.count ?? 0, rows.count / 2) }

    /// Returns the text in the code, whose surroundings are black.
    ///
    /// On a light terminal, black and white of a drawing without colors are exchanged (`inverted`).
    package func text(inverted: Bool = false) async throws -> String {
        let directory = try TemporaryDirectory()
        let file = directory.path("code.pbm")
        try Data(pixels(inverted: inverted).utf8).write(to: URL(fileURLWithPath: file))
        let output = try OutputPipe()
        let process = try ChildProcess(
            path: Self.reader,
            arguments: ["-q", "--raw", "--nodbus"] + (inverted ? ["-Stest-inverted"] : []) + [file],
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.url.path], standardOutput: output.writingEnd)
        async let text = output.text()
        let status = await process.exitStatus
        guard status == 0 else {
            throw Unreadable(description: "zbarimg ended with status \(status ?? -1): \(await text)")
        }
        return String(await text.dropLast())
    }

    /// Returns a portable bitmap (PBM), in which 1 is black.
    private func pixels(inverted: Bool) -> String {
        let (scale, margin) = (4, 8)
        let width = (rows.first?.count ?? 0) + 2 * margin
        let side = [Bool](repeating: true, count: margin)
        let border = [[Bool]](repeating: [Bool](repeating: true, count: width), count: margin)
        let all = border + rows.map { side + $0 + side } + border
        let lines = all.flatMap { row in
            let line = row.map { String(repeating: $0 != inverted ? "1" : "0", count: scale) }.joined()
            return [String](repeating: line, count: scale)
        }
        return "P1\n\(width * scale) \(lines.count)\n" + lines.joined(separator: "\n") + "\n"
    }
}
