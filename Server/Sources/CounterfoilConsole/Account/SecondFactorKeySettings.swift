@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The security keys on the page `/account/second-factor`.
extension SecondFactorSettings {
    /// Verifies the answer of the browser with a new security key; nil if it breaks a rule.
    func newKey(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Passkey? {
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer) else { throw NotFoundError() }
        do {
            return try ceremonies.newPasskey(
                try form.value(Self.keyField), answering: try form.value("ticket"), isSecurityKey: true,
                of: exchange.user, naming: { $0 ?? exchange.words(SecondFactorLabel.key) }, now: exchange.now)
        } catch {
            await console.auditor.refuse(
                .secondFactor, because: .passkey, exchange.request, user: exchange.user.id, detail: "\(error)",
                now: exchange.now)
            return nil
        }
    }

    func rename(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        let typed = try form.value("name")
        guard !typed.trimmingWhitespace().isEmpty else {
            return try await again(exchange, SecondFactorProblem.nameMissing, at: nil)
        }
        let event = console.event(.secondFactor, by: exchange, detail: "security key renamed")
        guard let digest = Self.digest(try form.value(Self.keyField)),
            try await console.store.renamePasskey(
                digest, of: exchange.user.id, to: DisplayName(typed).description, recording: [event])
        else { return .done(AccountNotice.keyGone, at: console.path(.secondFactor)) }
        console.auditor.countRecorded(event)
        return .done(AccountNotice.passkeyRenamed, at: console.path(.secondFactor))
    }

    static func digest(_ id: String) -> ArtefactDigest? {
        Base64URL.decode(id).flatMap(ArtefactDigest.init(stored:))
    }

    /// Returns the offer of another security key; nil if the user can add none.
    func keyOffer(beside keys: [Passkey], ticket: String, _ exchange: Console.Exchange) async throws
        -> PasskeyOffer?
    {
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer), keys.count < Passkey.limitPerUser else {
            return nil
        }
        let branding = try await console.registry.fresh().branding()
        let site = Site(branding, settings: console.settings, language: exchange.request.language)
        let known = try await keys + console.store.passkeys(of: exchange.user.id)
        let options = ceremonies.securityKeyOptions(
            for: exchange.user, with: known, siteName: site.name.description, answering: ticket)
        return PasskeyOffer(options: options, action: console.path(.secondFactor), ticket: ticket)
    }

    func row(_ key: Passkey, _ exchange: Console.Exchange) -> SecondFactorPage.Key {
        SecondFactorPage.Key(
            id: Base64URL.encode(key.digest.bytes), name: DisplayName(key.name),
            added: exchange.words.date(key.createdAt), lastUsed: exchange.words.lastUse(of: key, now: exchange.now))
    }

    /// Returns the values with which the script asks for a key or a passkey; nil if the user has none.
    func confirmation(
        answering ticket: String, _ exchange: Console.Exchange
    ) async throws -> SecondFactorPage.Confirmation? {
        let keys = try await factors.keys(of: exchange.user)
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer), let label = keys.label else { return nil }
        return SecondFactorPage.Confirmation(
            options: ceremonies.requestOptions(answering: ticket, of: keys.all, asSecondFactor: true),
            label: exchange.words(label))
    }
}
