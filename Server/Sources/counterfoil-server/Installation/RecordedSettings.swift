import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The settings of a server that administration commands need, as texts by name: to validate registrations, and to
/// check the server.
///
/// A text that this version cannot read counts as missing.
struct RecordedSettings: Sendable, Hashable {
    /// The names of the settings.
    private enum Name: String, CaseIterable {
        case issuer
        case callbackOrigin = "callback-origin"
        case plainSchemes = "plain-schemes"
        case developmentRedirectURIs = "development-redirect-uris"
        case connections
        case host
        case requiresPushedRequests = "require-pushed-requests"
        case unregisteredClients = "unregistered-clients"
        case keyLifetime = "key-lifetime"
        case accessTokenLifetime = "access-token-lifetime"
        case idTokenLifetime = "id-token-lifetime"
        case refreshIdleLifetime = "refresh-idle-lifetime"
        case signUp = "sign-up"
        case externalSignIn = "external-sign-in"
        case serverKeys = "server-keys"
        case mailSender = "mail-sender"
        case previousIssuer = "former-issuer"
        case databaseFile = "database-file"
    }

    /// The files of a server outside of its data directory.
    enum File: String, CaseIterable {
        case endingsJournal = "endings-journal"
        case settings = "settings-file"
        case tlsKey = "tls-key"
        case externalAccountKey = "acme-eab-key-file"
        case externalSignInKeys = "external-sign-in-keys"
        case mailCredentials = "mail-credentials-file"
        case serverKey = "server-key-file"
    }

    /// The absolute paths of the files that a server uses.
    typealias Files = [File: String]

    private var texts: [Name: String]
    /// The paths of the files; an empty one stands for no file.
    private let paths: Files

    /// Reads each setting, whose text can end in a newline.
    init(text: (_ name: String) -> String?) {
        func trimmed(_ name: String) -> String? { text(name)?.trimmingCharacters(in: .whitespacesAndNewlines) }
        var texts: [Name: String] = [:]
        for name in Name.allCases { texts[name] = trimmed(name.rawValue) }
        self.texts = texts
        var paths: Files = [:]
        for file in File.allCases { paths[file] = trimmed(file.rawValue) }
        self.paths = paths
    }

    /// Returns the names of the settings that have another value in `other`, in their order.
    ///
    /// What is not noted does not count, nor do paths on another machine and what is no setting of a file.
    func differences(from other: RecordedSettings) -> [String] {
        let compared = Name.allCases.filter {
            ![.host, .unregisteredClients, .serverKeys, .previousIssuer, .databaseFile].contains($0)
        }
        let settings = compared.filter { name in
            other.texts[name].map { $0 != texts[name] } ?? false
        }
        let files = File.allCases.filter { file in
            host == other.host && other.paths[file].map { $0 != paths[file] } ?? false
        }
        return settings.map(\.rawValue)
            + files.map { file in file.rawValue + (other.files[file].map { " (\($0))" } ?? " (none)") }
    }

    /// The texts by the names of their settings.
    var named: [String: String] {
        let pairs = texts.map { ($0.key.rawValue, $0.value) } + paths.map { ($0.key.rawValue, $0.value) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// - Parameters:
    ///   - settings: The settings of the protocol.
    ///   - connections: The setting of the maximum number of connections.
    ///   - sendsMail: Whether mail is set up.
    ///   - files: The paths of the files that the server uses.
    ///   - host: The name of the machine of the server.
    init(
        _ settings: ServerSettings, connections: Int, sendsMail: Bool = false, files: Files,
        host: String = Self.hostName
    ) {
        texts = [
            .issuer: settings.issuer.rawValue, .callbackOrigin: settings.callbackOrigin?.rawValue ?? "",
            .plainSchemes: settings.plainSchemes.sorted().joined(separator: "\n"),
            .developmentRedirectURIs: settings.allowsDevelopmentRedirectURIs ? "yes" : "no",
            .connections: "\(connections)",
            .host: host,
            .requiresPushedRequests: settings.requiresPushedRequests ? "yes" : "no",
            .unregisteredClients: settings.unregisteredClients.map { kinds in
                kinds.map(\.rawValue).sorted().joined(separator: "\n")
            } ?? Self.policy,
            .keyLifetime: "\(settings.keyLifetime)",
            .accessTokenLifetime: "\(settings.accessTokenLifetime)",
            .idTokenLifetime: "\(settings.idTokenLifetime)",
            .refreshIdleLifetime: "\(settings.refreshTokenIdleLifetime)",
            .signUp: settings.signUp.rawValue,
            .externalSignIn: settings.externalSignIn?.page.rawValue ?? "",
            .mailSender: sendsMail ? "yes" : "no",
        ]
        paths = Dictionary(uniqueKeysWithValues: File.allCases.map { ($0, files[$0] ?? "") })
    }

    /// The text for unregistered clients that the stored policy accepts.
    private static let policy = "policy"

    var issuer: Issuer? { texts[.issuer].flatMap { try? Issuer($0) } }

    /// The issuer of the servers before the last change, and the time of the change; nil if there was none.
    var previousIssuer: (issuer: Issuer, until: Date)? {
        let lines = (texts[.previousIssuer] ?? "").split(separator: "\n")
        guard lines.count == 2, let issuer = try? Issuer(String(lines[0])), let time = TimeInterval(lines[1]) else {
            return nil
        }
        return (issuer, Date(timeIntervalSince1970: time))
    }

    /// Returns these settings with the issuer of the servers before, whose settings they replace.
    func following(_ former: RecordedSettings, at now: Date = Date()) -> RecordedSettings {
        var settings = self
        if let issuer, let before = former.issuer, before != issuer {
            // The former issuer is back, so nothing has changed.
            settings.texts[.previousIssuer] =
                former.previousIssuer?.issuer == issuer ? "" : "\(before)\n\(Int(now.timeIntervalSince1970))"
        } else {
            settings.texts[.previousIssuer] = former.texts[.previousIssuer]
        }
        return settings
    }

    var callbackOrigin: CallbackOrigin? {
        guard let issuer, let text = texts[.callbackOrigin] else { return nil }
        return try? CallbackOrigin(text, issuer: issuer)
    }

    var plainSchemes: Set<String> {
        Set((texts[.plainSchemes] ?? "").split(separator: "\n").map(String.init).filter(PlainSchemes.isOne))
    }

    var allowsDevelopmentRedirectURIs: Bool { texts[.developmentRedirectURIs] != "no" }

    /// The setting of the maximum number of connections; nil if it is not noted.
    var connections: Int? { texts[.connections].flatMap { Int($0) } }

    /// The setting ``ServerSettings/keyLifetime``; nil if it is not noted.
    var keyLifetime: Int? { texts[.keyLifetime].flatMap { Int($0) } }

    /// The setting ``ServerSettings/accessTokenLifetime``; nil if it is not noted.
    var accessTokenLifetime: Int? { texts[.accessTokenLifetime].flatMap { Int($0) } }

    /// The setting ``ServerSettings/idTokenLifetime``; nil if it is not noted.
    var idTokenLifetime: Int? { texts[.idTokenLifetime].flatMap { Int($0) } }

    /// The setting ``ServerSettings/refreshTokenIdleLifetime``; nil if it is not noted.
    var refreshIdleLifetime: Int? { texts[.refreshIdleLifetime].flatMap { Int($0) } }

    /// The setting ``ServerSettings/signUp``; nil if it is not noted.
    var signUp: SignUpPolicy? { texts[.signUp].flatMap(SignUpPolicy.init(rawValue:)) }

    /// The URL of the page of the owner that signs users in; nil if there is none, or if it is not noted.
    var externalSignIn: String? { texts[.externalSignIn].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether mail is set up; nil if it is not noted.
    var sendsMail: Bool? { texts[.mailSender].map { $0 == "yes" } }

    /// The uses of the server keys, which are no setting: a server does not replace them by its own.
    var serverKeyUses: ServerKeyUses {
        get { ServerKeyUses(texts[.serverKeys]) }
        set { texts[.serverKeys] = newValue.text }
    }

    /// The name of the machine of the server; nil if it is not noted.
    var host: String? { texts[.host].flatMap { $0.isEmpty ? nil : $0 } }

    /// The name of this machine.
    static var hostName: String { ProcessInfo.processInfo.hostName }

    /// The settings on which the metadata of the server depend, and defaults for the others; nil if one is not noted.
    var ofMetadata: ServerSettings? {
        guard let issuer, let pushed = texts[.requiresPushedRequests], let kinds = texts[.unregisteredClients],
            let signUp
        else { return nil }
        var settings = ServerSettings(issuer: issuer)
        settings.signUp = signUp
        settings.requiresPushedRequests = pushed == "yes"
        if kinds != Self.policy {
            settings.unregisteredClients = Set(
                kinds.split(separator: "\n").compactMap { UnregisteredClientKind(rawValue: String($0)) })
        }
        return settings
    }

    /// The paths of the files that the server uses.
    var files: Files { paths.filter { $0.value.hasPrefix("/") } }

    /// The identity of the database file on which the server ran (``FileIdentity/text``); nil if it is not noted.
    var databaseFile: String? {
        get { texts[.databaseFile] }
        set { texts[.databaseFile] = newValue }
    }

    /// The path of the endings journal; nil for none.
    var endingsJournal: String? { files[.endingsJournal] }
}
