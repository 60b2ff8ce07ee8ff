@_spi(Counterfoil) import QRCode
import TestSupport
import Testing

/// Tests of QR codes, which another program reads.
@Suite(.timeLimit(.minutes(2)))
struct QRCodeTests {
    private static let url = "https://id.example.com/device?user_code=BDWP-HQPK"

    /// The code with its quiet zone, and with nothing else.
    private static func drawn(_ code: QRCode) -> DrawnQRCode {
        let places = -QRCode.quietZone..<code.width + QRCode.quietZone
        return DrawnQRCode(rows: places.map { row in places.map { code.isDark(row: row, column: $0) } })
    }

    // ISO/IEC 18004
    @Test(
        .enabled(if: DrawnQRCode.canBeRead, "zbarimg is not installed"),
        arguments: [
            ("A", .high, 21), (url, .low, 29), (url, .medium, 33), (url, .high, 41),
            (String(repeating: "x", count: 2953), .low, 177), (String(repeating: "ab%3D", count: 254), .high, 177),
        ] as [(String, QRCode.ErrorCorrection, Int)])
    func `a reader finds the text in the smallest code that can contain it`(
        text: String, correction: QRCode.ErrorCorrection, width: Int
    ) async throws {
        let code = try QRCode(text, correction: correction)
        #expect(code.width == width)
        #expect(try await Self.drawn(code).text() == text)
    }

    // ISO/IEC 18004 §6.3.3: the finder patterns are in three corners.
    @Test func `the modules are in rows from top to bottom, each from left to right`() throws {
        let code = try QRCode(Self.url)
        let pattern = ["#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######"]
        func corner(_ row: Int, _ column: Int) -> [String] {
            (row..<row + 7).map { row in
                String((column..<column + 7).map { code.isDark(row: row, column: $0) ? "#" : " " })
            }
        }
        #expect(corner(0, 0) == pattern)
        #expect(corner(0, code.width - 7) == pattern)
        #expect(corner(code.width - 7, 0) == pattern)
        #expect(corner(code.width - 7, code.width - 7) != pattern)
        #expect(!code.isDark(row: -1, column: 0) && !code.isDark(row: 0, column: code.width))
    }

    @Test(.enabled(if: DrawnQRCode.canBeRead, "zbarimg is not installed"), arguments: QRCode.TerminalColors.allCases)
    func `half blocks with a quiet zone can be read on a terminal`(colors: QRCode.TerminalColors) async throws {
        let code = try QRCode(Self.url, correction: .low)
        let output = code.halfBlocks(colors).joined(separator: "\n")
        let drawing = try #require(DrawnQRCode(in: "Scan this:\n\(output)\nWaiting\n"))
        #expect(drawing.isColored == (colors == .blackOnWhite))
        #expect(output.contains("\u{1B}") == (colors == .blackOnWhite))
        #expect(drawing.size == (columns: code.outerWidth, lines: 19) && code.outerWidth == 37)
        #expect(try await drawing.text() == Self.url)
        // On a light terminal, a drawing without colors is inverted, with its quiet zone.
        if colors == .terminal { #expect(try await drawing.text(inverted: true) == Self.url) }
    }

    @Test(
        arguments: [
            ("", .medium, .empty), (String(repeating: "x", count: 2954), .low, .tooLong(limit: 2953)),
            (String(repeating: "é", count: 637), .high, .tooLong(limit: 1273)),
        ] as [(String, QRCode.ErrorCorrection, QRCode.Failure)])
    func `a text that does not fit is refused before the library is asked`(
        text: String, correction: QRCode.ErrorCorrection, failure: QRCode.Failure
    ) {
        #expect(throws: failure) { try QRCode(text, correction: correction, libraryNames: []) }
    }

    // The second is a library, but another one.
    @Test(arguments: [[], ["libqrencode-missing.so.4", "libm.so.6"]])
    func `a missing library is an error that names the packages`(names: [String]) {
        let failure = #expect(throws: QRCode.Failure.self) { try QRCode("A", correction: .low, libraryNames: names) }
        #expect(failure == .libraryMissing)
        for package in ["libqrencode4", "qrencode-libs", "Homebrew: qrencode"] {
            #expect(failure?.description.contains(package) == true)
        }
    }

    @Test func `several tasks encode at once`() async throws {
        let expected = try QRCode(Self.url)
        try await withThrowingTaskGroup(of: QRCode.self) { group in
            for _ in 0..<200 { group.addTask { try QRCode(Self.url) } }
            for try await code in group { #expect(code == expected) }
        }
    }
}
