import CounterfoilConsole
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// The steps that lead from the state of a server to the one that a file declares.
struct ApplyPlan: Sendable {
    /// One step, for one record.
    enum Action: Sendable {
        case create(DeclaredRecord)
        case change(DeclaredRecord, [MemberChange], ActualState.Found)
        /// The record is as the file declares it.
        case keep(DeclaredRecord)
        case remove(DeclaredRemoval, ActualState.Found)
        /// The file asks for the removal, and the command line does not.
        case keepForPrune(DeclaredRemoval)
        /// The record that is to be removed does not exist.
        case keepRemoved(DeclaredRemoval)
    }

    let actions: [Action]

    /// The actions that change something.
    var changes: [Action] { actions.filter(\.isChange) }

    /// Computes the steps.
    ///
    /// - Parameter removing: Whether the records below `remove` are removed.
    /// - Throws: ``CommandFailure`` for the first declaration that cannot become true.
    init(_ declared: DeclaredState, from actual: ActualState, removing: Bool) throws(CommandFailure) {
        try Self.checkScopes(declared, actual, removing: removing)
        var actions: [Action] = []
        for record in declared.records {
            actions.append(try Self.action(for: record, actual[record.kind, record.name], in: declared.file))
        }
        for removal in declared.removals {
            switch actual[removal.kind, removal.name] {
            case nil: actions.append(.keepRemoved(removal))
            case let found?: actions.append(removing ? .remove(removal, found) : .keepForPrune(removal))
            }
        }
        self.actions = actions
    }

    private static func action(
        for record: DeclaredRecord, _ found: ActualState.Found?, in file: DeclaredFile
    ) throws(CommandFailure) -> Action {
        guard let found else {
            switch record.kind {
            case .clients:
                do { _ = try ChosenClientIdentifier(record.name, beside: ServerPages.console.endpoints) } catch {
                    throw file.failure(record.path + ["client_id"], "\(error)")
                }
                return .create(record)
            case .scopes, .apis: return .create(record)
            case .users:
                throw file.failure(record.path + ["username"], "there is no such user; create or invite the user first")
            case .unregisteredPolicy, .branding:
                throw file.failure(record.path, "the server has no such record")
            }
        }
        let changes = MemberChange.all(of: record, from: found.record.members)
        if let fixed = changes.first(where: { record.kind.fixedMembers.contains($0.path[0]) }) {
            throw file.failure(
                record.path + fixed.path,
                "\(fixed.name) of \(record.title) is \(fixed.from.map(\.shown) ?? "not set"), and cannot change")
        }
        return changes.isEmpty ? .keep(record) : .change(record, changes, found)
    }

    /// Checks that every named scope will exist; a server checks it, too, but in the middle of the steps.
    private static func checkScopes(
        _ declared: DeclaredState, _ actual: ActualState, removing: Bool
    ) throws(CommandFailure) {
        guard var known = actual.scopes else { return }
        for record in declared.records where record.kind == .scopes { known.insert(record.name) }
        let removed = Set(removing ? declared.removals.filter { $0.kind == .scopes }.map(\.name) : [])
        for record in declared.records {
            for member in record.kind.scopeMembers {
                let names =
                    record.members[member]?.texts
                    ?? record.members[member]?.text?.split(separator: " ").map(String.init) ?? []
                for name in names {
                    guard known.contains(name) else {
                        throw declared.file.failure(record.path + [member], "there is no scope named \(name)")
                    }
                    guard !removed.contains(name) else {
                        throw declared.file.failure(
                            record.path + [member], "the file removes the scope \(name)")
                    }
                }
            }
        }
    }
}

extension ApplyPlan.Action {
    /// Whether the action changes something on the server.
    var isChange: Bool {
        switch self {
        case .create, .change, .remove: true
        case .keep, .keepForPrune, .keepRemoved: false
        }
    }

    /// The kind and the name of the record.
    var title: String {
        switch self {
        case .create(let record), .change(let record, _, _), .keep(let record): record.title
        case .remove(let removal, _), .keepForPrune(let removal), .keepRemoved(let removal): removal.title
        }
    }

    /// Whether the creation has a secret in its answer.
    var createsSecret: Bool {
        guard case .create(let record) = self else { return false }
        switch record.kind {
        case .apis: return true
        case .clients:
            return ["web", "service"].contains(record.members["application_type"]?.text)
                && (record.members["jwks"] ?? .null) == .null
        case .scopes, .unregisteredPolicy, .branding, .users: return false
        }
    }
}
