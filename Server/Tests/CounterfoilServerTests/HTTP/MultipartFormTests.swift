@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilServer

/// Forms with files, as browsers and other programs send them.
struct MultipartFormTests {
    private static let boundary = "----FormBoundary7MA4YWxkTrZu0gW"

    private static func form(
        _ body: [UInt8], type: String? = nil, byteLimit: Int = 64 * 1024
    ) throws(MultipartForm.Refusal) -> MultipartForm {
        var head = HTTPRequest(method: .post, scheme: "https", authority: "id.example.com", path: "/apps/new")
        head.headerFields[.contentType] = type ?? "multipart/form-data; boundary=\(boundary)"
        return try MultipartForm(
            IncomingRequest(head: head, body: body, source: "192.0.2.1", id: "test"), byteLimit: byteLimit)
    }

    private static func form(_ body: String, type: String? = nil) throws(MultipartForm.Refusal) -> MultipartForm {
        try form(Array(body.utf8), type: type)
    }

    private static func part(_ fields: String, _ content: String) -> String {
        "--\(boundary)\r\n\(fields)\r\n\r\n\(content)\r\n"
    }

    private static let name = "Content-Disposition: form-data; name=\"name\""
    private static let end = "--\(boundary)--\r\n"

    // RFC 7578 §4.2, RFC 2046 §5.1.1. As Chromium and Firefox write it.
    @Test func `fields and files are read as a browser sends them`() throws {
        let body =
            Self.part(Self.name, "Grüße & Küsse\r\n--not a boundary")
            + Self.part("Content-Disposition: form-data; name=\"empty\"", "")
            + Self.part(
                "Content-Disposition: form-data; name=\"logo\"; filename=\"my \u{201C}logo\u{201D}.png\"\r\n"
                    + "Content-Type: image/png", "\u{89}PNG\r\n\r\n--\r\n") + Self.end
        let form = try Self.form(body)
        #expect(try form.fields.single("name") == "Grüße & Küsse\r\n--not a boundary")
        #expect(try form.fields.single("empty") == nil)
        #expect(try form.fields.single("logo") == nil)
        #expect(try form.file("logo") == Array("\u{89}PNG\r\n\r\n--\r\n".utf8))
        #expect(try form.file("name") == nil)
    }

    // A browser sends a file field without a choice as an empty file without a name.
    @Test func `a file that was not chosen is absent`() throws {
        let nothing = Self.part(
            "Content-Disposition: form-data; name=\"logo\"; filename=\"\"\r\nContent-Type: application/octet-stream", ""
        )
        #expect(try Self.form(nothing + Self.end).file("logo") == nil)
    }

    // RFC 6749 §3.1: the same rule as for every other form.
    @Test func `a field or a file that is given twice is refused`() throws {
        let field = try Self.form(Self.part(Self.name, "a") + Self.part(Self.name, "b") + Self.end)
        #expect(throws: FormParameters.Refusal.repeated("name")) { try field.fields.single("name") }
        let picture = Self.part("Content-Disposition: form-data; name=\"logo\"; filename=\"a.png\"", "x")
        let file = try Self.form(picture + picture + Self.end)
        #expect(throws: MultipartForm.Refusal.repeated("logo")) { try file.file("logo") }
    }

    // RFC 2046 §5.1.1.
    @Test(arguments: [
        "multipart/form-data; boundary=b", "Multipart/Form-Data;BOUNDARY=b", "multipart/form-data; boundary=\"b\"",
        "multipart/form-data; charset=utf-8; boundary=b ",
    ])
    func `the boundary is read from the content type`(type: String) throws {
        let body = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--"
        #expect(try Self.form(body, type: type).fields.single("a") == "1")
    }

    // RFC 2046 §5.1.1.
    @Test(arguments: [
        "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=b; boundary=c", "multipart/form-data; boundary=\"b",
        "multipart/mixed; boundary=b",
        "multipart/form-data; boundary=\"b \"", "multipart/form-data; boundary=\"é\"", "text/plain", "",
        "multipart/form-data, text/plain; boundary=b",
        "multipart/form-data; boundary=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    ])
    func `a content type that is not a form with a boundary is refused`(type: String) {
        #expect(throws: MultipartForm.Refusal.self) {
            try Self.form("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--", type: type)
        }
    }

    // RFC 2046 §5.1.1.
    @Test(arguments: [
        "", "\r\n", "preamble\r\n" + part(name, "a") + end, part(name, "a"), part(name, "a") + "--\(boundary)",
        part(name, "a") + "--\(boundary)x\r\n", part(name, "a") + end + "epilogue", part(name, "a") + end + end,
        "--\(boundary)\n\(name)\n\na\n--\(boundary)--", "--\(boundary)\r\n\(name)\r\n\r\na--\(boundary)--\r\n",
    ])
    func `parts that are not correctly separated are refused`(body: String) {
        #expect(throws: MultipartForm.Refusal.badStructure) { try Self.form(body) }
    }

    // RFC 7578 §4.2 to §4.7.
    @Test(arguments: [
        "X: y", "Content-Disposition: form-data", "Content-Disposition: form-data; name=\"\"",
        "Content-Disposition: attachment; name=\"a\"", "Content-Disposition: form-data; name=\"a\"; name=\"b\"",
        "Content-Disposition: form-data; name=\"a\" filename=\"b\"", "Content-Disposition: form-data; name=\"a",
        "\(name)\r\n\(name)", "\(name)\r\nContent-Type: multipart/mixed; boundary=c", "\(name)\r\n folded: yes",
        "\(name)\r\nno colon", "\(name)\r\nContent-Transfer-Encoding: base64", "\(name)\r\nX: \u{0}", " \(name)",
        "\(name)\r\nContent-Transfer-Encoding: quoted-printable", "\(name)\r\nContent-Type: text/plain; charset=utf-16",
        "\(name)\r\nX: " + String(repeating: "x", count: 1024),
    ])
    func `a part with an invalid header is refused`(fields: String) {
        #expect(throws: MultipartForm.Refusal.self) { try Self.form(Self.part(fields, "a") + Self.end) }
    }

    // RFC 7578 §4.7.
    @Test(arguments: ["7bit", "8BIT", "binary"]) func `identity encodings are accepted`(word: String) throws {
        let body = Self.part(Self.name + "\r\ncontent-transfer-encoding: \(word)\r\nX-Other: z", "a") + Self.end
        #expect(try Self.form(body).fields.single("name") == "a")
    }

    @Test func `sizes and counts are limited`() throws {
        #expect(throws: MultipartForm.Refusal.tooLong(limit: 100)) {
            try Self.form([UInt8](repeating: 0, count: 101), byteLimit: 100)
        }
        let twenty = String(repeating: Self.part(Self.name, "a"), count: MultipartForm.partLimit)
        #expect(try Self.form(twenty + Self.end).fields.pairs.count == MultipartForm.partLimit)
        #expect(throws: MultipartForm.Refusal.tooManyParts(limit: MultipartForm.partLimit)) {
            try Self.form(twenty + Self.part(Self.name, "a") + Self.end)
        }
        let badText = Array("--\(Self.boundary)\r\n\(Self.name)\r\n\r\n".utf8) + [0xFF] + Array("\r\n\(Self.end)".utf8)
        #expect(throws: MultipartForm.Refusal.badText("name")) { try Self.form(badText) }
    }

    /// Writes a form as a correct program does; returns it with its contents.
    private struct Written {
        var boundary: String
        var fields: [FormParameters.Pair] = []
        var files: [MultipartForm.File] = []
        var body: [UInt8] = []

        init(_ random: inout SeededGenerator) {
            let letters = Array("abcXYZ019'+_-.")
            func text(_ counts: ClosedRange<Int>, of characters: [Character], _ random: inout SeededGenerator) -> String
            {
                String(
                    (0..<Int.random(in: counts, using: &random)).compactMap { _ in
                        characters.randomElement(using: &random)
                    })
            }
            boundary = text(1...70, of: letters, &random)
            let delimiter = Array("\r\n--\(boundary)".utf8)
            for _ in 0..<Int.random(in: 0...MultipartForm.partLimit, using: &random) {
                let name = text(1...12, of: Array("abcß ;=\\-Ω名"), &random)
                var content = Array(text(0...80, of: Array("ab\r\n-–\u{1F600}") + letters, &random).utf8)
                let isFile = Bool.random(using: &random)
                if isFile {
                    content += (0..<Int.random(in: 0...40, using: &random)).map { _ in
                        UInt8(truncatingIfNeeded: random.next())
                    }
                }
                // A correct program chooses a boundary that occurs in none of its parts.
                guard ([0x0D, 0x0A] + content).ranges(of: delimiter).isEmpty else { continue }
                body += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"".utf8)
                if isFile { body += Array("; filename=\"\(name).png\"\r\nContent-Type: image/png".utf8) }
                body += Array("\r\n\r\n".utf8) + content + [0x0D, 0x0A]
                if isFile {
                    files.append(.init(field: name, bytes: content))
                } else {
                    fields.append(.init(name: name, value: String(decoding: content, as: UTF8.self)))
                }
            }
            body += Array("--\(boundary)--\r\n".utf8)
        }

        var type: String { "multipart/form-data; boundary=\"\(boundary)\"" }
    }

    // RFC 7578 §4.
    @Test(arguments: 1...6) func `forms of a correct program are read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            let written = Written(&random)
            let read = try Self.form(written.body, type: written.type)
            #expect(read.fields.pairs == written.fields)
            #expect(read.files == written.files)
        }
    }

    @Test(arguments: 1...3) func `a damaged form is refused or read, and never crashes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            let written = Written(&random)
            for length in [0, 1, written.body.count / 2, written.body.count - 5] {
                #expect(throws: MultipartForm.Refusal.self) {
                    try Self.form(Array(written.body.prefix(length)), type: written.type)
                }
            }
            var body = written.body
            for _ in 0..<4 {
                let index = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: body[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: body.remove(at: index)
                case 2: body.insert(contentsOf: Array("\r\n--\(written.boundary)".utf8), at: index)
                default: body += body.suffix(from: index).prefix(64)
                }
            }
            _ = try? Self.form(body, type: written.type)
        }
    }
}
