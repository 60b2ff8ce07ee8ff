import CounterfoilClient
import CounterfoilTokens

/// The options of `login` that the configuration file contains for a profile, by their long names.
///
/// The name `issuer` stands for the argument. There is no option with a secret: the file contains the paths of files.
struct LoginSettings: Equatable, Sendable {
    /// The value of an option.
    enum Value: Equatable, Sendable {
        case text(String)
        case list([String])
        case flag
    }

    /// The form that the value of an option has.
    enum Form: Sendable {
        case text
        case list
        case flag

        var description: String {
            switch self {
            case .text: "a string"
            case .list: "a list of strings"
            case .flag: "true"
            }
        }
    }

    /// The form of each option that can be in the file.
    static let forms: [String: Form] = [
        "issuer": .text, "vendor": .text, "client-id": .text, "client-metadata": .text, "scope": .list,
        "resource": .list, "api": .list, "grant": .text, "dpop": .flag, "client-secret-file": .text,
        "client-key": .text, "client-key-id": .text, "client-key-algorithm": .text, "assertion-audience": .text,
        "par": .text, "parameter": .list, "trusted-audience": .list, "assume-pkce": .flag, "redirect-uri": .text,
        "browser": .text, "device": .flag, "login-hint": .text,
    ]

    private(set) var values: [String: Value] = [:]

    var isEmpty: Bool { values.isEmpty }

    /// Whether the options name a server, a vendor or an API.
    var namesServer: Bool { values["issuer"] != nil || values["vendor"] != nil || values["resource"] != nil }

    /// The value of a text option; nil if it is not set.
    subscript(text name: String) -> String? {
        get { if case .text(let text) = values[name] { text } else { nil } }
        set { values[name] = newValue.map { .text($0) } }
    }

    /// The values of an option that can be repeated; empty if it is not set.
    subscript(list name: String) -> [String] {
        get { if case .list(let texts) = values[name] { texts } else { [] } }
        set { values[name] = newValue.isEmpty ? nil : .list(newValue) }
    }

    /// Whether a flag is set.
    subscript(flag name: String) -> Bool {
        get { values[name] == .flag }
        set { values[name] = newValue ? .flag : nil }
    }

    /// Returns the settings, with other settings in place of those of the same name and of those that exclude them.
    func replaced(by other: LoginSettings) -> LoginSettings {
        var settings = self
        for name in other.values.keys {
            for excluded in Self.excluded[name] ?? [] { settings.values[excluded] = nil }
        }
        settings.values.merge(other.values) { $1 }
        return settings
    }

    /// The settings without the secret or key of the client.
    var withoutClientAuthentication: LoginSettings {
        var settings = self
        for name in Self.clientAuthentication { settings.values[name] = nil }
        return settings
    }

    private static let clientAuthentication: Set = [
        "client-secret-file", "client-key", "client-key-id", "client-key-algorithm", "assertion-audience",
    ]

    /// The options that cannot be used together with an option.
    private static let excluded: [String: Set<String>] = [
        "client-secret-file": clientAuthentication, "client-key": clientAuthentication,
        "device": ["redirect-uri", "browser"], "redirect-uri": ["device"], "browser": ["device"],
    ]

    /// The arguments of `login` that set the options.
    var arguments: [String] {
        values.sorted { $0.key < $1.key }.flatMap { name, value in
            switch value {
            case .text(let text): name == "issuer" ? [text] : ["--\(name)=\(text)"]
            case .list(let texts): texts.map { "--\(name)=\($0)" }
            case .flag: ["--\(name)"]
            }
        }
    }
}

// MARK: - JSON

extension LoginSettings {
    /// A member of the file that is not an option, or that has another form.
    struct BadMember: Error {
        let name: String
        let reason: String
    }

    /// Parses the member `login` of a profile.
    init(parsing members: [String: JSONValue]) throws(BadMember) {
        for (name, value) in members {
            guard let form = Self.forms[name] else {
                let known = Self.forms.keys.sorted().joined(separator: ", ")
                throw BadMember(name: name, reason: "is not an option of login; the options are \(known)")
            }
            switch (form, value) {
            case (.text, .string(let text)) where !text.isEmpty && (name != "issuer" || text.first != "-"):
                values[name] = .text(text)
            case (.list, .string(let text)) where !text.isEmpty: values[name] = .list([text])
            case (.list, .array(let elements)):
                values[name] = .list(
                    try elements.map { element throws(BadMember) in
                        guard case .string(let text) = element, !text.isEmpty else {
                            throw BadMember(name: name, reason: "must be \(form.description)")
                        }
                        return text
                    })
            case (.flag, .boolean(let isOn)): values[name] = isOn ? .flag : nil
            default: throw BadMember(name: name, reason: "must be \(form.description)")
            }
        }
    }
}

extension LoginSettings.Value: Encodable {
    /// Encodes a string, a list of strings, or true.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .list(let texts): try container.encode(texts)
        case .flag: try container.encode(true)
        }
    }
}
