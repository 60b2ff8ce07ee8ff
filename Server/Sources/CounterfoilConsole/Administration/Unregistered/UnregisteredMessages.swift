import CounterfoilServer
import CounterfoilStore

/// The confirmations that the pages about unregistered clients show after a form was submitted.
enum UnregisteredNotice: String, LocalizationKey, Notice {
    case policySaved = "unregistered.notice.policy-saved"
    case ended = "unregistered.notice.ended"
    case hostEnded = "unregistered.notice.host-ended"
}

/// The labels and errors of the pages about unregistered clients.
enum UnregisteredMessage: String, LocalizationKey {
    case acceptsNone = "unregistered.accepts-none"
    case acceptsDocuments = "unregistered.accepts-documents"
    case acceptsRegistration = "unregistered.accepts-registration"
    case acceptsBoth = "unregistered.accepts-both"
    case kindNone = "unregistered.kind-none"
    case kindDocuments = "unregistered.kind-documents"
    case kindRegistration = "unregistered.kind-registration"
    case kindBoth = "unregistered.kind-both"
    case count = "unregistered.count"
    case countOfMany = "unregistered.count-of-many"
    case users = "unregistered.users"
    case manyUsers = "unregistered.many-users"
    case registrations = "unregistered.registrations"
    case approversEveryone = "unregistered.approvers-everyone"
    case approversAdministrators = "unregistered.approvers-administrators"
    case scopeListed = "unregistered.scope-listed"
    case scopeChosen = "unregistered.scope-chosen"
    case apiEvery = "unregistered.api-every"
    case apiChosen = "unregistered.api-chosen"
    case clientChanged = "unregistered.app-changed"
    case clientSuspended = "unregistered.app-suspended"
    case refusedHostsFull = "unregistered.refused-hosts-full"
}

extension UnregisteredClientSwitch {
    /// The accepted kinds, in one sentence.
    var sentence: UnregisteredMessage {
        switch self {
        case .none: .acceptsNone
        case .documents: .acceptsDocuments
        case .registration: .acceptsRegistration
        case .both: .acceptsBoth
        }
    }

    /// The label of the choice.
    var label: UnregisteredMessage {
        switch self {
        case .none: .kindNone
        case .documents: .kindDocuments
        case .registration: .kindRegistration
        case .both: .kindBoth
        }
    }
}

extension UnregisteredClientPolicy.Approvers {
    var label: UnregisteredMessage {
        switch self {
        case .everyone: .approversEveryone
        case .administrators: .approversAdministrators
        }
    }
}

extension UnregisteredClientCount {
    /// The number of clients and of unused ones.
    var text: LocalizedText {
        LocalizedText(
            clients < Self.limit ? UnregisteredMessage.count : .countOfMany,
            ["count": .number(clients), "unused": .number(unused)])
    }
}

extension UnregisteredClientUse {
    /// The number of users.
    var usersText: LocalizedText { Self.text(users: users) }

    /// Returns the text for a number of users, of whom a store has counted at most ``consentLimit``.
    static func text(users: Int) -> LocalizedText {
        LocalizedText(users < consentLimit ? UnregisteredMessage.users : .manyUsers, ["count": .number(users)])
    }
}
