import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The part of `/account/sessions` for apps: each sign-in of an app that still gives it access, and the form that ends
/// one.
struct SignedInApps: Sendable {
    let console: Console

    /// The form field with the identifier of the sign-in to end, and the query parameter of the page after it.
    static let field = "sign_in"

    /// Returns the sign-ins of a user, most recently used first.
    func list(of user: UserIdentifier, _ exchange: Console.Exchange) async throws -> SessionsPage.Apps {
        let settings = console.settings
        let signIns = try await console.store.appSignIns(
            of: user, at: exchange.now,
            idle: DefaultIdleLifetimes(
                inBrowser: settings.sessionIdleLifetime, elsewhere: settings.refreshTokenIdleLifetime),
            limit: SessionsPage.appLimit)
        var rows: [SessionsPage.AppRow] = []
        for signIn in signIns.recent { rows.append(await row(signIn, exchange)) }
        return SessionsPage.Apps(
            rows: rows, isEmpty: signIns.count == 0, count: String(signIns.count),
            excess: signIns.count > SessionsPage.appLimit
                ? exchange.words(
                    LocalizedText(
                        "account.sessions.apps-excess",
                        ["shown": .number(rows.count), "all": .number(signIns.count)])) : nil)
    }

    /// Ends one sign-in of an app, and leaves its other sign-ins and the browsers alone.
    func end(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        // A sign-in of another user gets the same response as one that does not exist.
        guard let id = GrantIdentifier(try form.value(Self.field)),
            let grant = try await console.store.grant(id), grant.userID == exchange.user.id
        else { return .done(AccountNotice.appOver, at: console.path(.sessions)) }
        let event = console.auditor.event(
            .revocation, by: exchange.request, user: exchange.user.id, client: grant.clientID, grant: id,
            detail: RevocationReason.user.rawValue, now: exchange.now)
        let outcome = try await console.store.revokeGrant(
            id, of: exchange.user.id, because: .user, at: exchange.now, recording: [event])
        guard outcome == .revoked else { return .done(AccountNotice.appOver, at: console.path(.sessions)) }
        console.auditor.countRecorded(event)
        return .done(AccountNotice.appEnded, under: id, at: console.path(.sessions))
    }

    private func row(_ signIn: AppSignIn, _ exchange: Console.Exchange) async -> SessionsPage.AppRow {
        let (grant, client) = (signIn.grant, signIn.client)
        return SessionsPage.AppRow(
            id: grant.id.rawValue,
            name: client.nameBesideHost,
            fullName: client.displayName,
            unregistered: client.isUnregistered ? .init(host: client.shownHost(.system)) : nil,
            logo: await console.logoPath(client, exchange.now),
            isFirstParty: client.policy.isFirstParty,
            isVouchedFor: client.policy.isVouchedFor,
            deviceName: grant.device.name,
            device: exchange.words(Device(userAgent: grant.device.userAgent)),
            source: grant.device.source.isEmpty ? nil : grant.device.source,
            signedIn: exchange.words.ago(grant.createdAt, now: exchange.now),
            lastUsed: exchange.words.ago(signIn.lastUsedAt, now: exchange.now),
            isFromHere: grant.sessionID?.rawValue == exchange.session.holder && !grant.device.isSeparate
        )
    }
}
