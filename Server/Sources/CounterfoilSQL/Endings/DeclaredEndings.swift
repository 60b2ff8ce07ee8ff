/// The kinds of endings that a commit can have, as its operation declares them.
///
/// The triggers of the database record what a commit has ended, whatever its operation declares. A build for
/// debugging stops at an operation that has ended something else.
package struct DeclaredEndings: Sendable, Hashable {
    package let kinds: Set<Ending.Kind>
    /// Whether the commit ends something as a rule.
    ///
    /// On PostgreSQL, it waits for others of this sort before it sees the database. Otherwise, it would conflict with
    /// them, because each counts its endings.
    package let isUsual: Bool

    private init(_ kinds: some Sequence<Ending.Kind>, isUsual: Bool) {
        self.kinds = Set(kinds)
        self.isUsual = isUsual
    }

    /// The commit ends nothing.
    package static let none = DeclaredEndings([], isUsual: false)
    /// The commit ends again what a restored store lacks.
    package static let any = DeclaredEndings(Ending.Kind.allCases, isUsual: true)

    /// The commit ends something of these kinds, unless its outcome is a refusal.
    package static func usually(_ kinds: Ending.Kind...) -> DeclaredEndings { DeclaredEndings(kinds, isUsual: true) }

    /// The commit ends something of these kinds in rare cases.
    package static func sometimes(_ kinds: Ending.Kind...) -> DeclaredEndings { DeclaredEndings(kinds, isUsual: false) }

    /// Returns the kinds among these names that are not declared, without those that only a newer version knows.
    package func undeclared(among ended: Set<String>) -> Set<Ending.Kind> {
        Set(ended.compactMap(Ending.Kind.init(name:))).subtracting(kinds)
    }
}

/// The value of a commit, and what it has ended.
package struct Committed<Value: Sendable>: Sendable {
    package let value: Value
    /// The names of the kinds of the endings that triggers have recorded in the transaction.
    package let ended: Set<String>

    package init(_ value: Value, ending ended: Set<String>) {
        self.value = value
        self.ended = ended
    }
}
