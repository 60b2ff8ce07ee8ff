import CounterfoilProtocol
import CounterfoilStore

/// The rules for the names of a client and its publisher.
extension ClientRules {
    /// Checks the name of a client and that of its publisher, and returns them without spaces around them.
    static func names(
        _ draft: ClientDraft, _ type: ClientType, _ problems: inout [ClientProblem]
    ) -> (name: String, publisher: String) {
        let name = trimmed(draft.name)
        if isOverloaded(name) {
            problems.append(ClientProblem(.name, .tooManyMarks))
        } else if !(1...nameLimit).contains(name.count) || !DisplayName.isVisible(name) {
            problems.append(ClientProblem(.name, .nameLength))
        } else if hasControls(name) {
            problems.append(ClientProblem(.name, .controlCharacters))
        }
        problems += foreignHosts(in: name, .name, of: draft, type)
        let publisher = trimmed(draft.publisher)
        if isOverloaded(publisher) {
            problems.append(ClientProblem(.publisher, .tooManyMarks))
        } else if publisher.count > nameLimit {
            problems.append(ClientProblem(.publisher, .publisherLength))
        } else if hasControls(publisher) {
            problems.append(ClientProblem(.publisher, .controlCharacters))
        }
        problems += foreignHosts(in: publisher, .publisher, of: draft, type)
        return (name, publisher)
    }

    /// Returns a name as pages show it; nil if it is empty, too long or misleading.
    static func shownName(_ text: String) -> String? {
        let name = trimmed(text)
        guard !isOverloaded(name), (1...nameLimit).contains(name.count), DisplayName.isVisible(name),
            !hasControls(name)
        else { return nil }
        return name
    }

    /// Returns the problem that a name contains a host that is not the client's own.
    ///
    /// A name that is too long has a problem already, and is not searched. One that the registration contains stays.
    private static func foreignHosts(
        in name: String, _ field: ClientField, of draft: ClientDraft, _ type: ClientType
    ) -> [ClientProblem] {
        guard name.count <= nameLimit, !isOverloaded(name), !draft.acceptedNames.contains(name) else { return [] }
        let redirectURIs = draft.redirectURIs.compactMap { try? RedirectURI($0) }
        guard let host = NamedHosts(in: name).foreign(to: redirectURIs, of: type) else { return [] }
        return [ClientProblem(field, .foreignHost, ["host": .text(host)])]
    }

    /// The maximum length of a client's or publisher's name, in characters (grapheme clusters).
    private static let nameLimit = 100

    /// Returns true if a name has far more code points than characters.
    ///
    /// One letter can have any number of combining marks, so a limit on characters does not limit code points.
    private static func isOverloaded(_ text: String) -> Bool {
        let scalars = text.unicodeScalars.count
        return scalars > 4 * nameLimit && scalars > 4 * text.count
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
