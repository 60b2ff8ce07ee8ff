import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

extension ApplyPlan {
    /// The difference for people: a line for each record, and below it one for each member.
    var words: String {
        let lines = actions.map(\.words)
        let creations = actions.count { if case .create = $0 { true } else { false } }
        let removals = actions.count { if case .remove = $0 { true } else { false } }
        let summary =
            "\(creations) to create, \(changes.count - creations - removals) to change, \(removals) to remove, "
            + "\(actions.count - changes.count) to leave alone"
        return (lines + [summary]).joined(separator: "\n")
    }
}

extension ApplyPlan.Action {
    /// The sign before the title: created, changed, left alone or removed.
    private var sign: String {
        switch self {
        case .create: "+"
        case .change: "~"
        case .keep, .keepForPrune, .keepRemoved: "="
        case .remove: "-"
        }
    }

    fileprivate var words: String {
        let title = "\(sign) \(self.title)"
        switch self {
        case .create(let record):
            let members = record.members.filter { $0.key != record.kind.key }.sorted { $0.key < $1.key }
            return ([title] + members.map { "    \($0.key): \($0.value.shown)" }).joined(separator: "\n")
        case .change(_, let changes, _):
            let lines = changes.map { change in
                "    \(change.name.visible): \(change.from?.shown ?? "not set") → \(change.to.shown)"
            }
            return ([title] + lines).joined(separator: "\n")
        case .keepForPrune: return title + " (--prune removes it)"
        case .keepRemoved: return title + " (does not exist)"
        case .keep, .remove: return title
        }
    }
}

extension String {
    /// The text without invisible characters.
    var visible: String { String(VisibleText(of: unicodeScalars).scalars) }
}

extension JSONValue {
    /// The longest text of a value in output.
    private static var shownLimit: Int { 200 }

    /// The value as JSON on one line, cut, and without invisible characters.
    var shown: String {
        let text = (try? Output.encoded(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let visible = String(VisibleText(of: text.unicodeScalars.prefix(Self.shownLimit)).scalars)
        return text.unicodeScalars.count > Self.shownLimit ? visible + "…" : visible
    }
}

/// The steps for programs, and how far they came.
struct PlanDocument: Encodable {
    private let plan: ApplyPlan
    /// The number of changes that were made.
    private let applied: Int

    init(_ plan: ApplyPlan, applied: Int) {
        self.plan = plan
        self.applied = applied
    }

    private enum CodingKeys: String, CodingKey { case changes, unchanged, applied }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(plan.changes.map(Step.init), forKey: .changes)
        try values.encode(plan.actions.filter { !$0.isChange }.map(\.title), forKey: .unchanged)
        try values.encode(applied, forKey: .applied)
    }

    private struct Step: Encodable {
        let action: String
        let kind: String
        let name: String
        let members: [Member]

        init(_ step: ApplyPlan.Action) {
            switch step {
            case .create(let record):
                (action, kind, name) = ("create", record.kind.rawValue, record.name)
                members = record.members.sorted { $0.key < $1.key }.map { Member(name: $0, from: nil, to: $1) }
            case .change(let record, let changes, _):
                (action, kind, name) = ("change", record.kind.rawValue, record.name)
                members = changes.map { Member(name: $0.name, from: $0.from, to: $0.to) }
            case .remove(let removal, _), .keepForPrune(let removal), .keepRemoved(let removal):
                (action, kind, name, members) = ("remove", removal.kind.rawValue, removal.name, [])
            case .keep(let record): (action, kind, name, members) = ("keep", record.kind.rawValue, record.name, [])
            }
        }
    }

    private struct Member: Encodable {
        let name: String
        let from: JSONValue?
        let to: JSONValue
    }
}
