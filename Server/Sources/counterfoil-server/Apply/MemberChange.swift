@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// A member that has another value in the file than on the server.
struct MemberChange: Sendable, Hashable {
    /// The names that lead to the member in its record.
    let path: [String]
    /// The value on the server; nil if it has none.
    let from: JSONValue?
    let to: JSONValue

    var name: String { DeclaredFile.text(of: path) }
}

extension MemberChange {
    /// The lists of the policy that allow nothing if they are empty, and everything if they are unset.
    private static let limits: Set<String> = ["maximum_scope", "resources"]
    /// The members that are lists of scopes in one text.
    private static let scopeTexts: Set<String> = ["scope", "optional_scope", "machine_scope"]
    /// The members of a JSON Web Key that are the key, and its name (RFC 7517 §4, RFC 7518 §6).
    private static let keyMembers: Set<String> = ["kty", "crv", "x", "y", "n", "e", "kid"]

    /// Returns the members that the file declares with another value.
    ///
    /// A member that the file does not have is left alone.
    static func all(of record: DeclaredRecord, from actual: [String: JSONValue]) -> [MemberChange] {
        var changes: [MemberChange] = []
        for (name, declared) in record.members.sorted(by: { $0.key < $1.key }) where name != record.kind.key {
            let merges = record.kind.mergedMembers.contains(name)
            compare(declared, actual[name], at: [name], of: record.kind, merging: merges, &changes)
        }
        return changes
    }

    private static func compare(
        _ declared: JSONValue, _ actual: JSONValue?, at path: [String], of kind: DeclaredKind, merging: Bool,
        _ changes: inout [MemberChange]
    ) {
        if merging, case .object(let members) = declared {
            var former: [String: JSONValue] = [:]
            if case .object(let members)? = actual { former = members }
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                compare(value, former[name], at: path + [name], of: kind, merging: true, &changes)
            }
        } else if !isSame(declared, actual, at: path, of: kind) {
            changes.append(MemberChange(path: path, from: actual, to: declared))
        }
    }

    private static func isSame(
        _ declared: JSONValue, _ actual: JSONValue?, at path: [String], of kind: DeclaredKind
    ) -> Bool {
        let name = path.last ?? ""
        switch (declared, actual ?? .null) {
        case (.string(let declared), .string(let actual)):
            if kind != .scopes, scopeTexts.contains(name) { return words(declared) == words(actual) }
            return trimmed(declared) == trimmed(actual)
        case (.array(let declared), .array(let actual)): return Set(declared) == Set(actual)
        case (.object(let declared), .object(let actual)) where name == "jwks": return keys(declared) == keys(actual)
        case (.object(let declared), .null): return declared.values.allSatisfy { $0 == .null || $0 == .string("") }
        case (.null, .object(let actual)): return actual.isEmpty
        case (.string(let text), .null), (.null, .string(let text)): return trimmed(text).isEmpty
        case (.array(let list), .null), (.null, .array(let list)): return list.isEmpty && !limits.contains(name)
        case (let declared, let actual): return declared == actual
        }
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    private static func words(_ text: String) -> Set<Substring> { Set(text.split(separator: " ")) }

    private static func keys(_ set: [String: JSONValue]) -> Set<JSONValue> {
        guard case .array(let keys)? = set["keys"] else { return [] }
        return Set(
            keys.map { key in
                guard case .object(let members) = key else { return key }
                return .object(members.filter { keyMembers.contains($0.key) })
            })
    }
}
