import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

extension Settings {
    static let externalSignIn = Setting<AbsoluteURI?>(
        "external-sign-in", .signInPage, value: "url", example: "https://shop.example.com/login/counterfoil",
        isLive: true, shared: { $0.externalSignIn?.page.rawValue ?? "" },
        "The URL of a page of yours that signs users in, to which this server sends browsers with a signed request: "
            + "https, or http on localhost. (default: none)",
        use: { $1.externalSignIn = $0.map { ExternalSignIn(page: $0, keys: JSONWebKeySet()) } })
    static let externalSignInKeys = Setting<String?>(
        "external-sign-in-keys", .text, value: "file", example: "/etc/counterfoil/sign-in-keys.json", isLive: true,
        shared: { $0.externalSignIn?.keys.keys.map(\.thumbprint).sorted().joined(separator: " ") ?? "" },
        "The file with the public keys that verify the responses of the page, as a JSON Web Key Set: ES256, EdDSA or "
            + "RS256.")
    static let externalSignInUsers = Setting(
        "external-sign-in-users", .choice(), default: ExternalSignIn.Users.create, value: "choice", isLive: true,
        shared: { $0.externalSignIn?.users.rawValue ?? "" },
        "The users whom the page can sign in: every user, whose first sign-in creates an account, or only those whose "
            + "account has an identity at the page.",
        use: { $1.externalSignIn?.users = $0 })
    static let externalSignInName = Setting<String?>(
        "external-sign-in-name",
        .text(.notEmpty) { DisplayName.isVisible($0) ? nil : .text($0, "must have a visible character") },
        value: "name", example: "Example Shop", isLive: true,
        shared: { $0.externalSignIn?.name?.description ?? "" },
        "The name of the page on the button of the sign-in page, and on error pages. (default: the host of the page)",
        use: { $1.externalSignIn?.name = $0.map { DisplayName($0) } })
}

extension SettingForm<AbsoluteURI> {
    fileprivate static let signInPage = SettingForm(
        .text("^https?://"),
        read: { text throws(SettingRefusal) in
            guard text.utf8.count <= 2048, let uri = try? AbsoluteURI(parsing: text), let host = uri.host,
                !host.isEmpty, uri.userInformation == nil, uri.fragment == nil,
                uri.scheme == "https" || uri.scheme == "http" && LoopbackHost(rawValue: host) != nil
            else {
                throw .text(
                    text, "must be an https URL of at most 2048 bytes without a fragment, or http with a loopback host")
            }
            return uri
        }, text: { $0.rawValue })
}

/// The options of `serve` for the page of the owner that signs users in.
struct ExternalSignInOptions: SettingGroup {
    static let title = "Your own sign-in"

    @Option(Settings.externalSignIn) var page: String?
    @Option(Settings.externalSignInKeys) var keys: String?
    @Option(Settings.externalSignInUsers) var users: String?
    @Option(Settings.externalSignInName) var name: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.externalSignIn, \.page), .init(Settings.externalSignInKeys, \.keys),
        .init(Settings.externalSignInUsers, \.users), .init(Settings.externalSignInName, \.name),
    ]
}

extension ServeConfiguration {
    /// Throws if the settings for the page of the owner are incomplete.
    func checkExternalSignIn() throws(SettingMistake) {
        let hasPage = self[Settings.externalSignIn] != nil
        guard hasPage == (self[Settings.externalSignInKeys] != nil) else {
            throw SettingMistake("\(Settings.externalSignIn) and \(Settings.externalSignInKeys) require each other.")
        }
        guard hasPage || !values.has(Settings.externalSignInUsers) else {
            throw SettingMistake("\(Settings.externalSignInUsers) requires \(Settings.externalSignIn).")
        }
        guard hasPage || self[Settings.externalSignInName] == nil else {
            throw SettingMistake("\(Settings.externalSignInName) requires \(Settings.externalSignIn).")
        }
    }

    /// Returns the settings of the protocol with the keys of the page of the owner, which it reads from their file.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be used.
    func settingsWithKeys() throws(CommandFailure) -> ServerSettings {
        guard let path = self[Settings.externalSignInKeys] else { return settings }
        var settings = settings
        settings.externalSignIn?.keys = try keys(at: path)
        return settings
    }

    private func keys(at path: String) throws(CommandFailure) -> JSONWebKeySet {
        let name = words("\(Settings.externalSignInKeys)")
        let text = try RegularFile.text(at: path, for: name, limit: JSONWebKeySet.byteLimit)
        let set: JSONWebKeySet
        do { set = try JSONWebKeySet(parsing: Array(text.utf8)) } catch {
            throw .refused("\(name): \(path): \(error); write an object with the public keys in the array \"keys\"")
        }
        guard !Self.hasPrivateKey(text) else {
            throw .refused(
                "\(name): \(path) contains a private or symmetric key; replace this key, and put only public keys into "
                    + "the file")
        }
        guard !set.keys.isEmpty else {
            throw .refused("\(name): \(path) contains no key for ES256, EdDSA or RS256; add the public key of the page")
        }
        return set
    }

    /// Returns true if a key set contains the secret of a key, which the parser of key sets skips.
    private static func hasPrivateKey(_ text: String) -> Bool {
        guard let document = try? JSONReader.object(Array(text.utf8)), case .array(let keys)? = document["keys"] else {
            return false
        }
        return keys.contains { key in
            guard case .object(let members) = key else { return false }
            return members["d"] != nil || members["k"] != nil
        }
    }
}
