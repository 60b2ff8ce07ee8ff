package import CounterfoilStore

/// The groups and attributes of a user, for the user and for administrators.
package struct AttributeList: Sendable, Hashable {
    /// An attribute.
    package struct Row: Sendable, Hashable {
        package var name: String
        /// The text, or the JSON of another value.
        package var value: String
    }

    /// The names of the groups.
    package var groups: [String]
    package var rows: [Row]

    /// Creates the list; nil for a user without groups and attributes.
    package init?(_ attributes: UserAttributes) {
        guard !attributes.isEmpty else { return nil }
        groups = attributes.groups.sorted().map(\.rawValue)
        rows = attributes.values.sorted { $0.key < $1.key }.map { name, value in
            if case .text(let text) = value { return Row(name: name.rawValue, value: text) }
            return Row(name: name.rawValue, value: value.json)
        }
    }
}
