import CounterfoilServer
import Foundation
import Testing

/// The shipped catalogue, compared with the phrases of the sources and the placeholders of the templates.
struct CatalogueTests {
    private let catalogue: Catalogue
    private let sources: Sources

    init() throws {
        catalogue = try Catalogue.shipped.get()
        sources = try Sources()
    }

    @Test func `every phrase of the sources and of the templates has a text`() {
        let known = Set(catalogue.messages(in: .english).keys)
        #expect(sources.phrases.count > 20 && sources.marks.count > 20)
        #expect(sources.phrases.union(sources.marks).subtracting(known).sorted() == [])
    }

    @Test func `every text of the catalogue is used`() {
        // Some problems have a button to continue.
        let said = sources.phrases.union(sources.marks).union(Problem.allCases.map { "problem.\($0.rawValue).way-on" })
        let left = catalogue.messages(in: .english).keys.filter {
            !said.contains($0) && !($0.hasSuffix(".one") && said.contains(String($0.dropLast(4))))
        }
        #expect(left.sorted() == [])
    }

    @Test(arguments: Language.allCases)
    func `a translation has the keys and the placeholders of the English text`(language: Language) {
        let english = catalogue.messages(in: .english)
        for (key, message) in catalogue.messages(in: language) {
            #expect(english[key] != nil, "\(key) is unknown")
            // The singular may spell out the number.
            if !key.hasSuffix(".one") { #expect(message.places == english[key]?.places, "\(key)") }
        }
    }

    @Test(arguments: Language.allCases)
    func `every text exists in every language`(language: Language) {
        let own = Set(catalogue.messages(in: language).keys)
        #expect(Set(catalogue.messages(in: .english).keys).subtracting(own).sorted() == [])
    }

    @Test func `a text that a language lacks is shown in English`() throws {
        let catalogue = try Catalogue(files: [
            .english: Array(#"{"a": "one", "b": "two"}"#.utf8), .german: Array(#"{"a": "eins"}"#.utf8),
        ])
        #expect(catalogue.message("a", in: .german)?.pieces == [.text("eins")])
        #expect(catalogue.message("b", in: .german)?.pieces == [.text("two")])
        #expect(catalogue.message("b", in: .french)?.pieces == [.text("two")])
        #expect(catalogue.message("c", in: .german) == nil)
    }

    @Test(arguments: [
        ("[]", Catalogue.Refusal.unreadable(.german)), (#"{"a": 1}"#, .unreadable(.german)), ("", .unreadable(.german)),
        (#"{"a": {"b": "c"}}"#, .unreadable(.german)), (#"{"a": "{"}"#, .broken("a", .german)),
    ])
    func `an invalid catalogue is refused with the position of the mistake`(file: String, refusal: Catalogue.Refusal) {
        #expect(throws: refusal) {
            try Catalogue(files: [.german: Array(file.utf8)])
        }
    }
}

/// The keys that the sources of the server and the templates use.
private struct Sources {
    /// The raw values of every enum that is a `LocalizationKey`, and of the problems.
    let phrases: Set<String>
    /// The placeholders of the templates.
    let marks: Set<String>

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
        var phrases: Set<String> = []
        let modules = ["CounterfoilServer", "CounterfoilConsole", "counterfoil-server"]
        for text in try modules.flatMap({ try Self.files(below: root.appendingPathComponent($0), suffix: ".swift") }) {
            phrases.formUnion(Self.phrases(in: text))
        }
        for problem in Problem.allCases {
            for part in ["title", "explanation", "advice"] { phrases.insert("problem.\(problem.rawValue).\(part)") }
        }
        // The problems whose pages have a button.
        for problem in [Problem.clientChanged, .notFound] { phrases.insert("problem.\(problem.rawValue).way-on") }
        self.phrases = phrases
        let templates = try ["CounterfoilWeb/Templates", "CounterfoilConsole/Templates"].flatMap {
            try Self.files(below: root.appendingPathComponent($0), suffix: ".mustache")
        }
        marks = Set(templates.flatMap { $0.matches(of: /\[\[=?([^\]]*)\]\]/).map { String($0.output.1) } })
    }

    private static func files(below folder: URL, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    }

    private static func phrases(in text: String) -> [String] {
        text.matches(of: /(?m)^( *)(?:[a-z]+ )*enum \w+: String,[^{\n]*\bLocalizationKey\b[^{\n]*\{/).flatMap { match in
            let body = text[match.range.upperBound...]
            let end = body.firstRange(of: "\n\(match.output.1)}")?.lowerBound ?? body.endIndex
            return body[..<end].matches(of: /(?m)^ *case \w+ = "([^"]*)"/).map { String($0.output.1) }
        }
    }
}
