@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/passkeys`: the passkeys of a user, and the forms that add, rename and delete one.
struct PasskeySettings: Sendable {
    let console: Console

    /// The values of the form field `decision`.
    private enum Decision: String {
        case add, upgrade, rename, remove
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(exchange)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let ceremonies = try ceremonies
        let (form, _) = try console.form(exchange)
        let passkey = try form.value("passkey")
        switch Decision(rawValue: try form.value("decision")) {
        case .add:
            return try await add(passkey, answering: try form.value("ticket"), by: ceremonies, exchange)
        case .upgrade:
            guard try await upgrade(exchange) != nil else { return .seeOther(console.path(.passkeys)) }
            return try await add(
                passkey, answering: try form.value("ticket"), isUpgrade: true, by: ceremonies, exchange)
        case .rename:
            return try await rename(passkey, to: try form.value("name"), exchange)
        case .remove:
            return try await remove(passkey, exchange)
        case nil: throw PageProblem.noDecision
        }
    }

    private func add(
        _ answer: String, answering ticket: String, isUpgrade: Bool = false, by ceremonies: PasskeyCeremonies,
        _ exchange: Console.Exchange
    ) async throws -> Reply {
        let passkey: Passkey
        do {
            passkey = try ceremonies.newPasskey(
                answer, answering: ticket, isUpgrade: isUpgrade, of: exchange.user,
                naming: {
                    $0 ?? exchange.words(Device(userAgent: exchange.request.head.headerFields[.userAgent] ?? "").text)
                }, now: exchange.now)
        } catch {
            await console.auditor.refuse(
                .passkey, because: .passkey, exchange.request, user: exchange.user.id, detail: "\(error)",
                now: exchange.now)
            return try await again(exchange, .refused)
        }
        let event = try await console.event(of: .passkeyAdded, by: exchange)
        switch try await console.store.addPasskey(passkey, recording: [event]) {
        case .added:
            console.auditor.countRecorded(event)
            return .done(AccountNotice.passkeyAdded, at: console.path(.passkeys))
        case .exists: return try await again(exchange, .exists)
        case .tooMany: return try await again(exchange, .tooMany)
        case .userNotActive: throw Console.SignInNeeded(path: exchange.path)
        }
    }

    private func rename(_ id: String, to typed: String, _ exchange: Console.Exchange) async throws -> Reply {
        guard !typed.trimmingWhitespace().isEmpty else { return try await again(exchange, .nameMissing) }
        let name = DisplayName(typed).description
        let event = console.event(.passkey, by: exchange, detail: "renamed")
        guard let digest = Self.digest(id),
            try await console.store.renamePasskey(digest, of: exchange.user.id, to: name, recording: [event])
        else { return .done(AccountNotice.passkeyGone, at: console.path(.passkeys)) }
        console.auditor.countRecorded(event)
        return .done(AccountNotice.passkeyRenamed, at: console.path(.passkeys))
    }

    /// Deletes a passkey, unless it is the last way in.
    private func remove(_ id: String, _ exchange: Console.Exchange) async throws -> Reply {
        // A notice counts against its limit before the commit, so a passkey that stays must cause none.
        let passkeys = try await console.store.passkeys(of: exchange.user.id)
        guard let digest = Self.digest(id), passkeys.contains(where: { $0.digest == digest }) else {
            return .done(AccountNotice.passkeyGone, at: console.path(.passkeys))
        }
        // A password whose second factor is lost signs no user in.
        let isLost = try await console.store.secondFactor(of: exchange.user.id) == .lost
        let ways = WaysIn(
            hasPassword: exchange.user.passwordHash != nil && !isLost, passkeys: passkeys.count,
            identities: try await console.waysInElsewhere(of: exchange.user).count)
        guard ways.allows(.passkey) else { return try await again(exchange, .lastWayIn) }
        let event = try await console.event(of: .passkeyRemoved, by: exchange)
        switch try await console.store.removePasskey(
            digest, of: exchange.user.id, countingIdentitiesOf: console.settings.identityIssuers, recording: [event])
        {
        case .removed:
            console.auditor.countRecorded(event)
            return .done(AccountNotice.passkeyRemoved, at: console.path(.passkeys))
        case .notFound: return .done(AccountNotice.passkeyGone, at: console.path(.passkeys))
        case .neededAsWayIn: return try await again(exchange, .lastWayIn)
        }
    }

    private static func digest(_ id: String) -> ArtefactDigest? {
        Base64URL.decode(id).flatMap(ArtefactDigest.init(stored:))
    }

    private func again(_ exchange: Console.Exchange, _ problem: PasskeyProblem) async throws -> Reply {
        try await page(exchange, problem: problem)
    }

    /// The ceremonies of this server; without a domain, it has no passkeys and no such page.
    private var ceremonies: PasskeyCeremonies {
        get throws {
            guard let ceremonies = PasskeyCeremonies(console.settings.issuer) else { throw NotFoundError() }
            return ceremonies
        }
    }

    private func page(_ exchange: Console.Exchange, problem: PasskeyProblem? = nil) async throws -> Reply {
        let ceremonies = try ceremonies
        let passkeys = try await console.store.passkeys(of: exchange.user.id)
        let page = PasskeysPage(
            console: console.head(exchange, in: .account),
            notice: exchange.notice(AccountNotice.self),
            problems: problem.map { [FormProblem(exchange.words($0), field: nil)] } ?? [],
            paths: console.accountPaths(at: .passkeys, exchange),
            rows: passkeys.map { row($0, exchange) },
            offer: try await offer(by: ceremonies, beside: passkeys, exchange),
            signal: try await signal(about: passkeys, by: ceremonies, exchange),
            canAdd: passkeys.count < Passkey.limitPerUser,
            nameLimit: Passkey.nameLimit)
        return Reply(problem == nil ? .ok : .badRequest, .page(page))
    }

    private func offer(
        by ceremonies: PasskeyCeremonies, beside passkeys: [Passkey], isUpgrade: Bool = false,
        _ exchange: Console.Exchange
    ) async throws -> PasskeyOffer {
        let branding = try await console.registry.fresh().branding()
        let site = Site(branding, settings: console.settings, language: exchange.request.language)
        let action = console.path(.passkeys)
        let ticket = console.ticket(exchange, for: action)
        let options = ceremonies.creationOptions(
            for: exchange.user, with: passkeys + (try await console.store.securityKeys(of: exchange.user.id)),
            siteName: site.name.description, answering: ticket, isUpgrade: isUpgrade)
        return PasskeyOffer(options: options, action: action, ticket: ticket)
    }

    /// Returns the offer of a first passkey to a user who has just signed in with a password; nil for another user.
    ///
    /// A password manager that filled in the password can add the passkey without a question (WebAuthn §5.1.3,
    /// conditional mediation).
    func upgrade(_ exchange: Console.Exchange) async throws -> PasskeyOffer? {
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer),
            !exchange.session.methods.all.contains(.passkey),
            console.isRecentEnough(exchange.session, for: .passkeys, now: exchange.now),
            try await console.store.passkeys(of: exchange.user.id).isEmpty
        else { return nil }
        return try await offer(by: ceremonies, beside: [], isUpgrade: true, exchange)
    }

    /// Returns what the browser learns about the passkeys of a user; nil for a user who has none.
    func signal(_ exchange: Console.Exchange) async throws -> PasskeySignal? {
        guard let ceremonies = PasskeyCeremonies(console.settings.issuer) else { return nil }
        let passkeys = try await console.store.passkeys(of: exchange.user.id)
        return passkeys.isEmpty ? nil : try await signal(about: passkeys, by: ceremonies, exchange)
    }

    private func signal(
        about passkeys: [Passkey], by ceremonies: PasskeyCeremonies, _ exchange: Console.Exchange
    ) async throws -> PasskeySignal {
        let known = passkeys + (try await console.store.securityKeys(of: exchange.user.id))
        return PasskeySignal(data: ceremonies.signalData(known, of: exchange.user), domain: ceremonies.domain)
    }

    private func row(_ passkey: Passkey, _ exchange: Console.Exchange) -> PasskeysPage.Row {
        PasskeysPage.Row(
            id: Base64URL.encode(passkey.digest.bytes),
            name: DisplayName(passkey.name),
            product: PasskeyCeremonies.product(of: passkey).flatMap { $0 == passkey.name ? nil : $0 },
            added: exchange.words.date(passkey.createdAt),
            lastUsed: exchange.words.lastUse(of: passkey, now: exchange.now),
            isSynced: passkey.isBackedUp)
    }
}

extension Localizer {
    /// Describes when and where a passkey or a security key was last used; nil if never.
    func lastUse(of passkey: Passkey, now: Date) -> String? {
        passkey.lastUse.map { use in
            [ago(use.time, now: now), self(Device(userAgent: use.userAgent).text), use.source]
                .filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }
}

/// The errors on the page of the passkeys.
private enum PasskeyProblem: String, LocalizationKey {
    case refused = "account.passkeys.refused"
    case exists = "account.passkeys.exists"
    case tooMany = "account.passkeys.too-many"
    case nameMissing = "account.passkeys.name-missing"
    case lastWayIn = "account.passkeys.last-way-in"
}
