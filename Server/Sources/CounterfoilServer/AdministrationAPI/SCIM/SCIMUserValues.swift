@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The values of a user that a directory writes, by `POST`, `PUT` and `PATCH`.
struct SCIMUserValues: Sendable, Hashable {
    /// The username, which is set once.
    private(set) var userName: Username?
    private(set) var externalID: ExternalIdentifier?
    /// The display name; nil for that of a user who has none, which is the username.
    private(set) var displayName: String?
    private(set) var givenName: String?
    private(set) var familyName: String?
    private(set) var middleName: String?
    private(set) var email: EmailAddress?
    private(set) var isActive = true
    /// Whether `userName` was read.
    private(set) var hasUserName = false
    /// `name.formatted`, which is the display name of a user who gets no other one.
    private var formattedName: String?
    /// Whether a whole resource is read, in which null stands for an absent value (RFC 7643 §2.5).
    private let isWhole: Bool

    /// Creates the values of a user who is created, or whose former values are replaced.
    ///
    /// Who can sign in changes only if the resource says so: an administrator can have disabled the user.
    init(replacing former: User?) {
        userName = former?.username
        isActive = former?.disabledAt == nil
        isWhole = true
    }

    /// Creates the values that are stored for a user.
    init(_ user: User) {
        userName = user.username
        externalID = user.externalID
        displayName = user.displayName
        givenName = user.profile.givenName
        familyName = user.profile.familyName
        middleName = user.profile.middleName
        email = user.email
        isActive = user.disabledAt == nil
        isWhole = false
    }

    /// Writes the values into a user; another email address counts as unverified.
    func write(into user: inout User, at time: Date) {
        user.externalID = externalID
        user.displayName = displayName ?? formattedName ?? user.username.rawValue
        user.profile.givenName = givenName
        user.profile.familyName = familyName
        user.profile.middleName = middleName
        user.changeEmail(to: email, isVerified: nil)
        user.disabledAt = isActive ? nil : user.disabledAt ?? time
    }

    /// Reads the members of a resource, or of the value of an operation without a path.
    ///
    /// - Parameter isAddition: Whether the operation adds values.
    mutating func read(_ members: [String: JSONValue], isAddition: Bool = false) throws(ProblemError) {
        var names: Set<String> = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard names.insert(SCIMAttribute.canonical(name)).inserted else {
                throw ProblemError(.invalidSyntax, "\(EscapedText(name)): the member occurs twice.")
            }
            let path: SCIMPath
            do { path = try SCIMPath(parsing: name) } catch {
                throw ProblemError(.invalidSyntax, "\(EscapedText(name)): a user has no such attribute.")
            }
            try set(path, to: value, named: name, isAddition: isAddition)
        }
    }

    /// Sets the target of an operation; null and an empty list remove its value.
    mutating func set(
        _ path: SCIMPath, to value: JSONValue, named name: String, isAddition: Bool
    ) throws(ProblemError) {
        guard !isWhole || value != .null else { return }
        try requireTarget(path, named: name, whenAbsent: true)
        let name = EscapedText(name).description
        switch path.attribute {
        case .readOnly, .unstored: return
        case .userName: try setUserName(try Self.text(value, name))
        case .externalID:
            externalID = try Self.parsed(
                value, name, rule: "It must have 1 to \(ExternalIdentifier.limit) bytes and no control character.",
                ExternalIdentifier.init(_:))
        case .displayName:
            displayName = try Self.name(value, name)
            guard isWhole || displayName != nil else { throw Self.unremovable(name) }
        case .formattedName: formattedName = try Self.name(value, name)
        case .givenName: givenName = try Self.name(value, name)
        case .familyName: familyName = try Self.name(value, name)
        case .middleName: middleName = try Self.name(value, name)
        case .name: try setName(value, name)
        case .emailValue:
            email = try Self.parsed(value, name, rule: "It must be an email address.", EmailAddress.init(_:))
        case .emails:
            let emails = try SCIMEmails(value, name)
            // An address that is added beside that of the user is none that the server stores (RFC 7644 §3.5.2.1).
            if !isAddition || email == nil || emails.isForWork { email = emails.chosen }
        case .active:
            guard let flag = SCIMFlag(value)?.isTrue else {
                throw value == .null
                    ? Self.unremovable(name) : ProblemError(.invalidValue, "\(name): it must be true or false.")
            }
            isActive = flag
        case .password: throw Self.refusedPassword
        }
    }

    /// Removes the value of the target of an operation (RFC 7644 §3.5.2.2).
    ///
    /// - Parameter value: The addresses to remove, which a directory can name beside the path; nil for all.
    mutating func remove(
        _ path: SCIMPath, _ value: JSONValue?, named name: String
    ) throws(ProblemError) {
        try requireTarget(path, named: name, whenAbsent: false)
        switch path.attribute {
        case .unstored: return
        case .externalID: externalID = nil
        case .givenName: givenName = nil
        case .familyName: familyName = nil
        case .middleName: middleName = nil
        case .formattedName: formattedName = nil
        case .name: (givenName, familyName, middleName, formattedName) = (nil, nil, nil, nil)
        case .emails:
            guard let value, value != .null else {
                email = nil
                return
            }
            if let email, try SCIMEmails(value, EscapedText(name).description).contains(email) { self.email = nil }
        case .emailValue: email = nil
        case .readOnly, .userName, .displayName, .active: throw Self.unremovable(EscapedText(name).description)
        case .password: throw Self.refusedPassword
        }
    }

    private mutating func setUserName(_ text: String?) throws(ProblemError) {
        guard let text else {
            if isWhole { return }
            throw Self.unremovable("userName")
        }
        hasUserName = true
        let typed = Username(text)
        if let userName {
            guard typed == userName else {
                throw ProblemError(.mutability, "userName: a username never changes; it is \(userName).")
            }
        } else {
            guard let typed else {
                throw ProblemError(
                    .invalidValue,
                    "userName: it must have 1 to 64 letters, digits and . _ -, so no email address and no user "
                        + "principal name. Map it in the directory to an attribute such as mailNickname.")
            }
            userName = typed
        }
    }

    private mutating func setName(_ value: JSONValue, _ name: String) throws(ProblemError) {
        switch value {
        case .null: (givenName, familyName, middleName, formattedName) = (nil, nil, nil, nil)
        case .object(let parts):
            try read(Dictionary(parts.map { ("name." + $0.key, $0.value) }, uniquingKeysWith: { $1 }))
        default: throw ProblemError(.invalidValue, "\(name): it must be an object.")
        }
    }

    /// Throws if an operation names a value of `emails` that the user does not have.
    ///
    /// - Parameter canAdd: Whether the operation adds the value, if the user has none.
    private func requireTarget(
        _ path: SCIMPath, named name: String, whenAbsent canAdd: Bool
    ) throws(ProblemError) {
        guard !path.values.isEmpty else { return }
        let isFound = path.values.allSatisfy { condition in
            switch condition {
            case .value: email.map(condition.matches) == true
            case .type, .primary: (canAdd || email != nil) && condition.matchesEveryAddress
            }
        }
        guard isFound else {
            throw ProblemError(
                .noTarget,
                "\(EscapedText(name)): the user has no such address. A user has one, the primary one of the type work.")
        }
    }

    private static func unremovable(_ name: String) -> ProblemError {
        ProblemError(.mutability, "\(name): it cannot be removed.")
    }

    private static let refusedPassword = ProblemError(
        .mutability, "password: the server takes no passwords from a directory. Turn their synchronization off.")

    private static func name(_ value: JSONValue, _ name: String) throws(ProblemError) -> String? {
        try parsed(value, name, rule: "It " + String.displayNameRule) { text in
            let text = text.trimmingWhitespace()
            return text.isDisplayName ? text : nil
        }
    }

    private static func parsed<Value>(
        _ value: JSONValue, _ name: String, rule: String, _ parse: (String) -> Value?
    ) throws(ProblemError) -> Value? {
        guard let text = try text(value, name) else { return nil }
        guard let parsed = parse(text) else { throw ProblemError(.invalidValue, "\(name): \(rule)") }
        return parsed
    }

    /// Returns a string; nil for null and an empty one, which stand for no value.
    private static func text(_ value: JSONValue, _ name: String) throws(ProblemError) -> String? {
        switch value {
        case .null: return nil
        case .string(let text):
            guard !text.utf8.contains(0), text.utf8.count <= 16_384 else {
                throw ProblemError(.invalidValue, "\(name): it must have at most 16384 bytes and no NUL.")
            }
            return text.isEmpty ? nil : text
        default: throw ProblemError(.invalidValue, "\(name): it must be a string.")
        }
    }
}

/// A boolean, which a directory can send as a string such as `"False"`.
struct SCIMFlag: Sendable, Hashable {
    let isTrue: Bool

    init?(_ value: JSONValue) {
        switch value {
        case .boolean(let flag): isTrue = flag
        case .string(let text):
            guard let flag = ["true": true, "false": false][text.lowercased()] else { return nil }
            isTrue = flag
        default: return nil
        }
    }
}

/// The addresses in a request, of which the server stores one.
private struct SCIMEmails {
    /// The maximum number of addresses in a request.
    private static let limit = 20

    /// The primary address, or else the first one of the type `work`, or else the first one; nil for none.
    let chosen: EmailAddress?
    /// Whether the chosen address is the primary one, of the type `work`, or of no type.
    let isForWork: Bool
    private let addresses: [String]

    init(_ value: JSONValue, _ name: String) throws(ProblemError) {
        let entries: [JSONValue]
        switch value {
        case .null: entries = []
        case .array(let values): entries = values
        case .object: entries = [value]
        default: throw ProblemError(.invalidValue, "\(name): it must be a list of objects.")
        }
        guard entries.count <= Self.limit else {
            throw ProblemError(.invalidValue, "\(name): it must have at most \(Self.limit) addresses.")
        }
        var candidates: [(address: String, rank: Int, isForWork: Bool)] = []
        for entry in entries {
            guard case .object(let members) = entry else {
                throw ProblemError(.invalidValue, "\(name): it must be a list of objects.")
            }
            let parts = Dictionary(members.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
            guard parts.count == members.count, let address = parts["value"]?.text else {
                throw ProblemError(.invalidValue, "\(name): each address needs one member value.")
            }
            let isPrimary = parts["primary"].flatMap { SCIMFlag($0) }?.isTrue == true
            let type = parts["type"]?.text?.lowercased()
            let rank = isPrimary ? 0 : type == "work" ? 1 : 2
            candidates.append((address, rank, rank < 2 || type == nil))
        }
        addresses = candidates.map(\.address)
        let rank = candidates.map(\.rank).min()
        guard let first = candidates.first(where: { $0.rank == rank }) else {
            (chosen, isForWork) = (nil, false)
            return
        }
        guard let address = EmailAddress(first.address) else {
            throw ProblemError(.invalidValue, "\(name): it must be an email address.")
        }
        (chosen, isForWork) = (address, first.isForWork)
    }

    func contains(_ email: EmailAddress) -> Bool { addresses.contains { EmailAddress($0) == email } }
}
