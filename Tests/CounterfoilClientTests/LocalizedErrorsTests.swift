import Foundation
import Testing

@testable import CounterfoilClient

/// Tests of the sentences that alerts show.
@Suite struct LocalizedErrorsTests {
    @Test(arguments: [
        ("the server did not respond", "The server did not respond."),
        ("sign in again!", "Sign in again!"),
        ("https://id.example.com cannot be reached", "https://id.example.com cannot be reached."),
        ("éclair is unknown.", "Éclair is unknown."),
        ("", ""),
    ])
    func `a clause becomes a sentence`(clause: String, sentence: String) {
        #expect("\(Sentence(clause))" == sentence)
    }

    // Without the conformance, an alert shows "The operation couldn't be completed. (… error 3.)".
    @Test func `each public error of the module has a sentence`() throws {
        let module = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/CounterfoilClient").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: module).filter { $0.hasSuffix(".swift") }
        let text = { (file: String) in try String(contentsOfFile: module + "/" + file, encoding: .utf8) }
        let type = /^( *)(?:public |package )?(?:final )?(?:struct|enum|class|extension|actor) ([\w.]+)/
        var errors: Set<String> = []
        for file in files {
            // The types that contain the line, with their indentation.
            var enclosing: [(indentation: Int, name: String)] = []
            for line in try text(file).split(separator: "\n") {
                guard let found = line.firstMatch(of: type) else { continue }
                enclosing.removeAll { $0.indentation >= found.output.1.count }
                enclosing.append((found.output.1.count, String(found.output.2)))
                if line.contains("public "), line.contains(/: ([\w, ]+, )?Error\b/) {
                    errors.insert(enclosing.map(\.name).joined(separator: "."))
                }
            }
        }
        let described = try text("LocalizedErrors.swift").matches(of: /extension ([\w.]+): LocalizedError/)
        #expect(errors.count > 20)
        #expect(errors.subtracting(described.map { String($0.output.1) }) == [])
    }
}
