import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The shipped catalogue, compared with the keys of the sources and the placeholders of the templates.
struct CatalogueTests {
    private let catalogue: Catalogue
    private let sources: Sources

    init() throws {
        catalogue = try Catalogue.shipped.get()
        sources = try Sources()
    }

    @Test func `every key of the sources and of the templates has a text`() {
        let known = Set(catalogue.messages(in: .english).keys)
        #expect(sources.cases.count > 20 && sources.literals.count > 20 && sources.marks.count > 20)
        #expect(sources.keys.union(sources.marks).subtracting(known).sorted() == [])
    }

    // A key that is written in any other way than the test reads, or that has a typing error in its last part.
    @Test func `every literal that looks like a key of an area is one`() {
        let known = Set(catalogue.messages(in: .english).keys)
        let areas = Set(known.compactMap { $0.split(separator: ".").first })
        let looks = sources.dottedLiterals.filter { literal in
            literal.split(separator: ".").first.map(areas.contains) ?? false
        }
        #expect(looks.count > 20)
        #expect(looks.subtracting(known).subtracting(EventType.allCases.map(\.rawValue)).sorted() == [])
    }

    @Test func `every text of the catalogue is used`() {
        // Some problems have a button to continue.
        let said = sources.keys.union(sources.marks).union(Problem.allCases.map { "problem.\($0.rawValue).continue" })
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
            if !key.hasSuffix(".one") { #expect(message.placeholders == english[key]?.placeholders, "\(key)") }
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
    /// The raw values of every enum that is a `LocalizationKey`.
    let cases: Set<String>
    /// The literals from which the sources create a `LocalizedText`.
    let literals: Set<String>
    /// All literals with words and periods only.
    let dottedLiterals: Set<String>
    /// The placeholders of the templates.
    let marks: Set<String>

    /// The keys of the sources.
    var keys: Set<String> { cases.union(literals).union(Self.computed) }

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
        let modules = ["CounterfoilServer", "CounterfoilConsole", "counterfoil-server"]
        let texts = try modules.flatMap { try Self.files(below: root.appendingPathComponent($0), suffix: ".swift") }
        cases = Set(texts.flatMap(Self.cases))
        literals = Set(texts.flatMap { $0.matches(of: /LocalizedText\(\s*"([^"\\]*)"/).map { String($0.output.1) } })
        dottedLiterals = Set(
            texts.flatMap { $0.matches(of: /"([a-z-]+(?:\.[a-z0-9_-]+)+)"/).map { String($0.output.1) } })
        let templates = try ["CounterfoilPages/Templates", "CounterfoilConsole/Templates"].flatMap {
            try Self.files(below: root.appendingPathComponent($0), suffix: ".mustache")
        }
        marks = Set(templates.flatMap { $0.matches(of: /\[\[=?([^\]]*)\]\]/).map { String($0.output.1) } })
    }

    /// The keys that the sources compute from the values of an enum or from the names of scopes.
    private static var computed: Set<String> {
        var keys: Set<String> = []
        for problem in Problem.allCases {
            for part in ["title", "explanation", "advice"] { keys.insert("problem.\(problem.rawValue).\(part)") }
        }
        // The problems whose pages have a button.
        for problem in [
            Problem.alreadySetUp, .clientChanged, .cookiesMissing, .notFound, .pageExpired, .pageOutdated,
            .recoveryLinkOver, .recoveryElsewhere,
        ] {
            keys.insert("problem.\(problem.rawValue).continue")
        }
        for type in ClientType.allCases {
            keys.formUnion(["client-type.\(type.rawValue)", "client-type.\(type.rawValue)-meaning"])
        }
        keys.formUnion(RefreshTokenPolicy.allCases.map { "policy.refresh-tokens.\($0.rawValue)" })
        keys.formUnion(WebViewPolicy.allCases.map { "policy.web-views.\($0.rawValue)" })
        keys.formUnion(AuthenticationContext.allCases.map { "policy.minimum-authentication.\($0.rawValue)" })
        keys.formUnion(SubjectType.allCases.map { "policy.subject-type.\($0.rawValue)" })
        keys.formUnion(AuditEvent.Kind.allCases.map { "audit.kind.\($0.rawValue)" })
        keys.formUnion(ScopeDefinition.standard.map { "scope.\($0.token.rawValue)" })
        keys.formUnion(
            AdministrationRight.allCases.map { "scope.\($0.rawValue.replacing(":", with: "-"))" })
        return keys
    }

    private static func files(below folder: URL, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    }

    private static func cases(in text: String) -> [String] {
        text.matches(of: /(?m)^( *)(?:[a-z]+ )*enum \w+: String,[^{\n]*\bLocalizationKey\b[^{\n]*\{/).flatMap { match in
            let body = text[match.range.upperBound...]
            let end = body.firstRange(of: "\n\(match.output.1)}")?.lowerBound ?? body.endIndex
            return body[..<end].matches(of: /(?m)^ *case \w+ = "([^"]*)"/).map { String($0.output.1) }
        }
    }
}
