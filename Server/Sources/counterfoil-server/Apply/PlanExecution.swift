import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The changes of a plan, made one after the other until one is refused.
struct PlanExecution {
    private let transport: any AdministrationTransport
    /// The file for new secrets; nil to drop them.
    private let secrets: SecretsFile?
    /// The number of changes that were made.
    private(set) var applied = 0

    init(by transport: any AdministrationTransport, keepingSecretsIn secrets: SecretsFile?) {
        self.transport = transport
        self.secrets = secrets
    }

    /// Makes the changes.
    ///
    /// - Throws: ``CommandFailure`` with what was made and what was not.
    mutating func run(_ plan: ApplyPlan) async throws {
        let changes = plan.changes
        do {
            for change in changes { try await make(change) }
        } catch let failure as CommandFailure {
            throw failure.interrupting(after: changes[..<applied], before: changes[applied...])
        }
    }

    private mutating func make(_ change: ApplyPlan.Action) async throws {
        switch change {
        case .create(let record): try await create(record)
        case .change(let record, let changes, let found): try await self.change(record, changes, found)
        case .remove(let removal, let found):
            _ = try await transport.change(.delete, found.path, ifMatch: found.record.tag)
                .successful("remove \(removal.title)")
            applied += 1
        case .keep, .keepForPrune, .keepRemoved: return
        }
    }

    private mutating func create(_ record: DeclaredRecord) async throws {
        let answer = try await transport.create("/\(record.kind.rawValue)", record.members)
            .successful("create \(record.title)")
        applied += 1
        let created = try AdministrationRecord(answer).members
        if let secret = created["client_secret"]?.text, let id = created["client_id"]?.text {
            if let secrets {
                try secrets.append(secret, clientID: id, of: record)
            } else {
                Output.note(
                    "note: the secret of \(record.title) was not kept; create another one with: "
                        + record.secretCommand)
            }
        }
        noteOtherForm(of: record, created)
    }

    private mutating func change(
        _ record: DeclaredRecord, _ changes: [MemberChange], _ found: ActualState.Found
    ) async throws {
        let changed = Set(changes.map { $0.path[0] })
        let body = record.members.filter { changed.contains($0.key) }
        let (method, path): (HTTPRequest.Method, String) =
            record.kind == .users ? (.put, found.path + "/role") : (.patch, found.path)
        let answer = try await transport.change(method, path, ifMatch: found.record.tag, body)
            .successful("change \(record.title)")
        applied += 1
        noteOtherForm(of: record, try AdministrationRecord(answer).members)
    }

    /// Prints the values that the server stores in another form, because each run would change them again.
    private func noteOtherForm(of record: DeclaredRecord, _ stored: [String: JSONValue]) {
        for change in MemberChange.all(of: record, from: stored) {
            Output.note(
                "note: \(record.title): the server has \(change.from?.shown ?? "no value") for \(change.name); write it "
                    + "so in the file, or each run changes it again")
        }
    }
}

extension CommandFailure {
    /// Returns the failure with what was made before it, and what was not made.
    fileprivate func interrupting(
        after made: ArraySlice<ApplyPlan.Action>, before left: ArraySlice<ApplyPlan.Action>
    ) -> CommandFailure {
        func list(_ actions: ArraySlice<ApplyPlan.Action>) -> String {
            actions.isEmpty ? "nothing" : actions.map(\.title).joined(separator: ", ")
        }
        let text =
            message + "\n  applied: \(list(made))\n  not applied: \(list(left))\n"
            + "  Run the command again to continue; it reads the server again first."
        return isTemporary ? .temporary(text) : .refused(text)
    }
}
