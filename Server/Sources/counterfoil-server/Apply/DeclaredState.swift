import CounterfoilConsole
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// A record that a file declares.
struct DeclaredRecord: Sendable, Hashable {
    let kind: DeclaredKind
    /// The name of the record; empty if there is one record of the kind.
    let name: String
    /// The members as the API has them.
    let members: [String: JSONValue]
    /// The names that lead to the record in the file.
    let path: [String]

    /// The record in output.
    var title: String { name.isEmpty ? kind.noun : "\(kind.noun) \(name.visible)" }

    /// The command that adds or replaces the secret of an app or an API.
    var secretCommand: String {
        "counterfoil-server \(kind == .apis ? "resource" : "app") secret \(name.visible)"
    }

    /// The members of a private or symmetric key (RFC 7518 §6).
    private static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Whether `jwks` has a private or symmetric key, which the plan would print.
    fileprivate var hasPrivateKey: Bool {
        guard case .object(let set)? = members["jwks"], case .array(let keys)? = set["keys"] else { return false }
        return keys.contains { key in
            guard case .object(let members) = key else { return false }
            return !Self.privateMembers.isDisjoint(with: members.keys)
        }
    }
}

/// A record whose removal a file asks for.
struct DeclaredRemoval: Sendable, Hashable {
    let kind: DeclaredKind
    let name: String
    let path: [String]

    var title: String { "\(kind.noun) \(name.visible)" }
}

/// The state of a server as a file declares it, checked as far as the file alone allows.
struct DeclaredState: Sendable {
    /// The member with the records to remove.
    private static let removals = "remove"

    let file: DeclaredFile
    /// The records in the order in which they are applied.
    private(set) var records: [DeclaredRecord] = []
    /// The removals: clients, then APIs, then scopes, because each uses the kinds after it.
    private(set) var removals: [DeclaredRemoval] = []

    init(_ file: DeclaredFile) throws(CommandFailure) {
        self.file = file
        let known = DeclaredKind.allCases.map(\.rawValue) + [Self.removals]
        if let unknown = file.members.keys.sorted().first(where: { !known.contains($0) }) {
            throw file.failure(
                [unknown], "there is no such member; the file can have \(known.joined(separator: ", "))")
        }
        for kind in DeclaredKind.allCases { try read(kind) }
        putOwnersFirst()
        try readRemovals()
        for removal in removals {
            if records.contains(where: { $0.kind == removal.kind && $0.name == removal.name }) {
                throw file.failure(removal.path, "the file declares \(removal.title), too")
            }
        }
    }

    private mutating func read(_ kind: DeclaredKind) throws(CommandFailure) {
        guard let value = file.members[kind.rawValue], value != .null else { return }
        guard let key = kind.key else {
            let members = try object(value, at: [kind.rawValue])
            return try add(DeclaredRecord(kind: kind, name: "", members: members, path: [kind.rawValue]))
        }
        for (index, element) in try list(value, at: [kind.rawValue]).enumerated() {
            let path = [kind.rawValue, "[\(index)]"]
            let members = try object(element, at: path)
            guard let name = members[key]?.text, !name.isEmpty else {
                throw file.failure(path + [key], "\(key) is required, and a text")
            }
            let record = DeclaredRecord(
                kind: kind, name: try checked(name, of: kind, at: path + [key]), members: members, path: path)
            if let former = records.first(where: { $0.kind == kind && $0.name == record.name }) {
                throw file.failure(
                    path + [key], "\(record.title) occurs twice; \(DeclaredFile.text(of: former.path)) has it, too")
            }
            try add(record)
        }
    }

    /// Moves new owners before the other users, because the last owner cannot lose the role.
    private mutating func putOwnersFirst() {
        let users = records.filter { $0.kind == .users }
        let isOwner = { (user: DeclaredRecord) in user.members["role"]?.text == UserRole.owner.rawValue }
        records.removeAll { $0.kind == .users }
        records += users.filter(isOwner) + users.filter { !isOwner($0) }
    }

    private mutating func add(_ record: DeclaredRecord) throws(CommandFailure) {
        if let refusal = record.kind.refusals(of: record.members).first {
            throw file.failure(record.path + refusal.path, refusal.detail)
        }
        guard !record.hasPrivateKey else {
            throw file.failure(
                record.path + ["jwks"],
                "it has a private key, which must never leave the client; write the public key, and replace this one")
        }
        records.append(record)
    }

    /// Returns the name of a record in its canonical form.
    private func checked(_ name: String, of kind: DeclaredKind, at path: [String]) throws(CommandFailure) -> String {
        guard name.utf8.count <= 2048,
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw file.failure(path, "the name is too long, or has a control character") }
        guard kind == .users else { return name }
        guard let username = Username(name) else { throw file.failure(path, "it must be a username") }
        return username.rawValue
    }

    private mutating func readRemovals() throws(CommandFailure) {
        guard let value = file.members[Self.removals], value != .null else { return }
        let lists = try object(value, at: [Self.removals])
        let kinds = DeclaredKind.allCases.filter(\.isRemovable)
        if let unknown = lists.keys.sorted().first(where: { name in !kinds.contains { $0.rawValue == name } }) {
            let names = kinds.map(\.rawValue).joined(separator: ", ")
            throw file.failure([Self.removals, unknown], "there is no such member; remove can have \(names)")
        }
        for kind in kinds.reversed() {
            guard let value = lists[kind.rawValue], value != .null else { continue }
            for (index, element) in try list(value, at: [Self.removals, kind.rawValue]).enumerated() {
                let path = [Self.removals, kind.rawValue, "[\(index)]"]
                guard let name = element.text, !name.isEmpty else {
                    throw file.failure(path, "it must be a \(kind.key ?? "name"), as a text")
                }
                let removal = DeclaredRemoval(kind: kind, name: try checked(name, of: kind, at: path), path: path)
                guard !removals.contains(where: { $0.kind == kind && $0.name == name }) else {
                    throw file.failure(path, "\(removal.title) occurs twice")
                }
                removals.append(removal)
            }
        }
    }

    private func object(_ value: JSONValue, at path: [String]) throws(CommandFailure) -> [String: JSONValue] {
        guard case .object(let members) = value else { throw file.failure(path, "it must be a mapping") }
        return members
    }

    private func list(_ value: JSONValue, at path: [String]) throws(CommandFailure) -> [JSONValue] {
        guard case .array(let elements) = value else { throw file.failure(path, "it must be a list") }
        return elements
    }
}
