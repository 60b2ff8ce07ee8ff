import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// A webhook as an administrator entered it, before it is checked.
package struct WebhookDraft: Sendable, Hashable {
    package var url = ""
    package var label = ""
    /// The names of the event types; empty for all but ``EventType/ofStrangers``.
    package var types: [String] = []

    /// Creates an empty draft.
    package init() {}

    /// Creates a draft from a webhook, to edit it.
    package init(_ webhook: Webhook) {
        url = webhook.url.rawValue
        label = webhook.label
        types = webhook.types
    }

    /// A field of the form; the raw value is its name.
    package enum Field: String, Sendable, Hashable {
        case url, label, types
    }

    /// An error in a draft; if ``field`` is nil, the error concerns the draft as a whole.
    package struct FieldProblem: Sendable, Hashable {
        package let field: Field?
        /// The error and its remedy.
        package let text: LocalizedText

        package init(_ field: Field?, _ error: some Localized) {
            self.field = field
            text = error.text
        }

        package init(_ field: Field?, _ reason: Reason, _ values: [String: LocalizedText.Value] = [:]) {
            self.init(field, LocalizedText(reason, values))
        }

        package enum Reason: String, LocalizationKey {
            case notAURL = "webhooks.not-a-url"
            case notALabel = "webhooks.not-a-label"
            case unknownType = "webhooks.unknown-type"
            case tooMany = "webhooks.too-many"
            case changedMeanwhile = "webhooks.changed-meanwhile"
        }
    }

    /// Returns true if the server can post to a URL: https to a name in lower case with a period, as outbound requests
    /// need it.
    private static func isUsable(_ url: AbsoluteURI) -> Bool {
        guard RedirectURIRegistration.isBackchannelLogoutURI(url), !url.hasDotSegments, url.scheme == "https",
            let host = url.host
        else { return false }
        return host == DomainName.canonical(host) && host.contains(".") && !DomainName.isNumeric(host)
    }

    /// The checked values of a draft.
    struct Checked {
        let url: AbsoluteURI
        let label: String
        let types: [String]
    }

    /// Checks the draft.
    func checked() throws(WebhookRefusal) -> Checked {
        var problems: [FieldProblem] = []
        let url = try? AbsoluteURI(parsing: url.trimmingCharacters(in: .whitespaces))
        if url.map(Self.isUsable) != true { problems.append(FieldProblem(.url, .notAURL)) }
        let label = label.trimmingCharacters(in: .whitespacesAndNewlines)
        if !DisplayName.isShownWhole(label, length: 1...100) { problems.append(FieldProblem(.label, .notALabel)) }
        problems += types.filter { EventType(known: $0) == nil }.map {
            FieldProblem(.types, .unknownType, ["name": .text(String($0.prefix(100)))])
        }
        guard let url, problems.isEmpty else { throw WebhookRefusal(problems) }
        return Checked(url: url, label: label, types: Set(types).sorted())
    }
}

/// The error that ``WebhookDraft`` and ``WebhookAdministration`` throw, with the problems of all fields.
package struct WebhookRefusal: Error, Sendable, Hashable {
    /// The problems; never empty.
    package let problems: [WebhookDraft.FieldProblem]

    package init(_ problems: [WebhookDraft.FieldProblem]) { self.problems = problems }
}
