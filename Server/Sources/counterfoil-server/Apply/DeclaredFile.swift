import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Yams

/// The content of a file with a declared state, in YAML or JSON, with the place of each value.
struct DeclaredFile: Sendable {
    /// A place in the file, from 1.
    struct Place: Sendable, Hashable {
        let line: Int
        let column: Int
    }

    /// A mistake in the file.
    struct Mistake: Error {
        let place: Place
        let reason: String
    }

    /// The maximum size in bytes.
    static let limit = 1024 * 1024
    /// The maximum number of values, and of levels below the top.
    fileprivate static let (valueLimit, depthLimit) = (100_000, 12)
    /// The size of the stack that the parser needs for the deepest document that it accepts.
    private static let stackSize = 64 * 1024 * 1024

    let path: String
    let members: [String: JSONValue]
    private let places: [[String]: Place]

    /// Reads a file; every mistake in it is an error with its line and column.
    init(at path: String) async throws {
        let text = try InputFile.text(at: path, limit: Self.limit)
        // The parser calls itself for each level, and a level costs one character.
        let read = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: Result { try Reading(text) }) }
            thread.stackSize = Self.stackSize
            thread.start()
        }
        do {
            let reading = try read.get()
            (self.path, members, places) = (path, reading.members, reading.places)
        } catch let mistake as Mistake {
            throw CommandFailure.refused(Self.message(mistake, in: path))
        }
    }

    /// Creates the failure of a mistake at a member, or at the closest one around it that the file has.
    func failure(_ names: [String], _ reason: String) -> CommandFailure {
        var known = names
        while !known.isEmpty, places[known] == nil { known.removeLast() }
        let place = places[known] ?? Place(line: 1, column: 1)
        let member = names.isEmpty ? "" : Self.text(of: names) + ": "
        return .refused(Self.message(Mistake(place: place, reason: member + reason), in: path))
    }

    private static func message(_ mistake: Mistake, in path: String) -> String {
        let reason = VisibleText(of: mistake.reason.unicodeScalars.prefix(2000)).scalars
        return "\(path), line \(mistake.place.line), column \(mistake.place.column): \(String(reason))"
    }

    /// Returns the path of a member as text, such as `clients[0].scope`.
    static func text(of names: [String]) -> String {
        names.enumerated().map { $0 == 0 || $1.hasPrefix("[") ? $1 : "." + $1 }.joined()
    }
}

extension DeclaredFile {
    /// The values of a text, which another thread reads.
    fileprivate struct Reading: Sendable {
        private(set) var members: [String: JSONValue] = [:]
        private(set) var places: [[String]: Place] = [:]
        private var count = 0

        init(_ text: String) throws {
            let root: Node?
            do {
                try Self.checkAnchors(text)
                root = try Parser(yaml: text, encoding: .utf8).singleRoot()
            } catch let error as YamlError { throw Mistake(error) }
            guard let root else { return }
            guard case .object(let members) = try value(of: root, at: []) else {
                throw Mistake(
                    place: Place(root), reason: "the file must be one mapping, with lists such as clients:")
            }
            self.members = members
        }

        private mutating func value(of node: Node, at names: [String]) throws(Mistake) -> JSONValue {
            let place = Place(node)
            func mistake(_ reason: String) -> Mistake {
                Mistake(place: place, reason: names.isEmpty ? reason : "\(DeclaredFile.text(of: names)): \(reason)")
            }
            count += 1
            guard count <= valueLimit else { throw mistake("the file has more than \(valueLimit) values") }
            guard names.count <= depthLimit else { throw mistake("more than \(depthLimit) levels") }
            places[names] = place
            switch node {
            case .scalar(let scalar):
                return JSONValue(scalar)
            case .sequence(let nodes):
                var values: [JSONValue] = []
                for (index, node) in nodes.enumerated() {
                    values.append(try value(of: node, at: names + ["[\(index)]"]))
                }
                return .array(values)
            case .mapping(let mapping):
                var members: [String: JSONValue] = [:]
                for (key, node) in mapping {
                    guard case .scalar(let name) = key else { throw mistake("the name of a member must be a text") }
                    guard members[name.string] == nil else { throw mistake("\(name.string) occurs twice") }
                    members[name.string] = try value(of: node, at: names + [name.string])
                    places[names + [name.string]] = Place(key)
                }
                return .object(members)
            case .alias:
                throw mistake("an alias of YAML, which the file cannot have")
            }
        }

    }
}

/// The search for anchors, with which a small file can stand for a huge one.
///
/// The parser replaces each alias before its caller sees it, and compares the names in a mapping, which can take
/// hours. So it first parses the text with a letter in place of each `&`. An anchor is then a text that begins with
/// this letter, or a syntax error, and no alias has an anchor.
extension DeclaredFile.Reading {
    /// A letter for private use.
    private static let letter: Unicode.Scalar = "\u{E000}"

    /// Throws if the text has an anchor.
    fileprivate static func checkAnchors(_ text: String) throws {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return }
        let replaced = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "&" ? letter : $0 }))
        let anchor: DeclaredFile.Place?
        do {
            anchor = try Parser(yaml: replaced, encoding: .utf8).singleRoot().flatMap { Self.anchor(in: $0) }
        } catch {
            guard let likely = likelyAnchor(in: text) else { throw error }
            anchor = likely
        }
        guard let anchor else { return }
        throw DeclaredFile.Mistake(
            place: anchor,
            reason: "an anchor of YAML, which the file cannot have; quote a value that begins with &")
    }

    private static func anchor(in node: Node) -> DeclaredFile.Place? {
        switch node {
        case .scalar(let scalar):
            return scalar.style == .plain && scalar.string.unicodeScalars.first == letter ? .init(node) : nil
        case .sequence(let nodes):
            for node in nodes { if let place = anchor(in: node) { return place } }
        case .mapping(let mapping):
            for (key, node) in mapping { if let place = anchor(in: key) ?? anchor(in: node) { return place } }
        case .alias: break
        }
        return nil
    }

    /// Returns the place of the first `&` that looks like an anchor, as the cause of a syntax error.
    private static func likelyAnchor(in text: String) -> DeclaredFile.Place? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            guard let match = line.firstMatch(of: #/(?:^\s*|[:?-]\s+|[\[{,]\s*)(&[^\s&])/#) else { continue }
            let column = line.distance(from: line.startIndex, to: match.output.1.startIndex) + 1
            return DeclaredFile.Place(line: index + 1, column: column)
        }
        return nil
    }
}

extension DeclaredFile.Place {
    fileprivate init(_ node: Node) { self.init(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1) }
}

extension DeclaredFile.Mistake {
    /// Creates a mistake from an error of the YAML parser.
    fileprivate init(_ error: YamlError) {
        func mistake(_ mark: Mark, _ reason: String) -> Self {
            Self(place: .init(line: mark.line, column: mark.column), reason: reason)
        }
        self =
            switch error {
            case .duplicatedKeysInMapping(let names, let context):
                mistake(context.mark, "\(names.first ?? "a member") occurs twice in one mapping")
            case .parser(_, let problem, let mark, _) where problem.hasPrefix("Maximum nesting level"):
                mistake(mark, "more than \(DeclaredFile.depthLimit) levels")
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
                mistake(mark, "not YAML: \(problem)")
            case .composer(_, let problem, let mark, _):
                mistake(
                    mark,
                    problem.contains("another document")
                        ? "a second document; a file has one" : "not YAML: \(problem)")
            case .reader(let problem, _, _, _): Self(place: .init(line: 1, column: 1), reason: "not YAML: \(problem)")
            default: Self(place: .init(line: 1, column: 1), reason: "not YAML")
            }
    }
}

extension JSONValue {
    /// Creates the value of a scalar: quoted, it is a text; otherwise it can be null, a truth value or an integer.
    fileprivate init(_ scalar: Node.Scalar) {
        let text = scalar.string
        self =
            switch (scalar.style, text) {
            case (.plain, ""), (.plain, "~"), (.plain, "null"): .null
            case (.plain, "true"): .boolean(true)
            case (.plain, "false"): .boolean(false)
            case (.plain, _) where text.wholeMatch(of: #/-?(?:0|[1-9][0-9]{0,17})/#) != nil:
                Int64(text).map(JSONValue.integer) ?? .string(text)
            default: .string(text)
            }
    }
}
