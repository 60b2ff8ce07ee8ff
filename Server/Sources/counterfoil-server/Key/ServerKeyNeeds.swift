import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

extension ServerKeyNeed {
    /// The records, the time until which they need the key, and a way to shorten it.
    var words: String {
        func counted(_ one: String) -> String { "\(count ?? 0) \(one)\(count == 1 ? "" : "s")" }
        let limit = until.map { " until \(DisplayName($0)) at the latest" } ?? ""
        return switch kind {
        case .signingKeys: counted("signing key") + limit + "; counterfoil-server key rotate shortens it to 27 hours"
        case .refreshTokens: counted("refresh token") + limit + ", each until its next use"
        case .keptRefreshTokens:
            "clients that ignore the refresh token of a response" + limit
                + (lastUsed.map { "; the last time was \(DisplayName($0))" } ?? "")
        case .certificateAccount: "the account at the certificate authority, until its next order: certificate renew"
        case .certificate: "the key of the certificate, until a server starts"
        case .secondFactors:
            counted("second factor") + ", until a server has encrypted the secrets again, a minute or more"
        case .webhooks: counted("webhook") + ", until a server has encrypted the secrets again, a minute or more"
        case .identifierKeys: "the keys of pairwise identifiers, until a server starts"
        case .forms: "forms on open pages, and queued mails and logout notifications" + limit
        }
    }
}

extension ServerKeyState {
    /// The lines of the key in text output.
    var lines: [String] {
        let time = firstUntil.map { ", the first key until \(DisplayName($0))" } ?? ""
        let line = "\(DisplayName(fingerprint))  \(state.rawValue)\(time)"
        let needed = needs.map { "          needed by \($0.words)" }
        return switch state {
        case .current: [line]
        case .next: [line + "; to replace the current key, put it first at each server"] + needed
        case .missing: [line + "; add it as the last key, or accept that these users must sign in again"] + needed
        case .former where needs.isEmpty:
            [line, "          nothing needs it: leave it out, and keep it with the backups from before that time"]
        case .former: [line] + needed
        }
    }
}

extension ServerKeyState {
    /// The longest lifetime of a form, and the time for which a mail and a logout notification wait, in seconds.
    private static let day: TimeInterval = 86_400
    /// The time in seconds for which one of several servers can use a key after it has noted that.
    private static let margin: TimeInterval = 60

    /// Reads from a store what still needs each key of its servers, the current one first.
    ///
    /// Keys that are not listed any more are included if something needs them.
    static func all(of installation: Installation) async throws -> [ServerKeyState] {
        let (fingerprints, now) = (installation.serverKey.fingerprints, installation.store.now())
        let uses = PreviousKeyUse.all(of: installation, margin: margin, at: now)
        var needs = try await sealed(of: installation)
        for use in uses where fingerprints.contains(use.fingerprint) {
            needs[use.fingerprint, default: []] += try await refreshTokens(of: use, in: installation, at: now)
            if now < use.end + day {
                needs[use.fingerprint, default: []].append(
                    ServerKeyNeed(kind: .forms, count: nil, until: use.end + day))
            }
        }
        let listed = fingerprints.enumerated().map { index, fingerprint in
            let end = uses.first { $0.fingerprint == fingerprint }?.end
            return ServerKeyState(
                fingerprint: fingerprint, state: index == 0 ? .current : end == nil ? .next : .former,
                firstUntil: end, needs: index == 0 ? [] : needs[fingerprint] ?? [])
        }
        return try await listed + missing(of: installation, among: uses, at: now)
    }

    /// Reads from a store which keys are not listed any more although refresh tokens need them.
    static func missing(of installation: Installation) async throws -> [ServerKeyState] {
        let now = installation.store.now()
        return try await missing(
            of: installation, among: PreviousKeyUse.all(of: installation, margin: margin, at: now), at: now)
    }

    private static func missing(
        of installation: Installation, among uses: [PreviousKeyUse], at now: Date
    ) async throws -> [ServerKeyState] {
        let fingerprints = installation.serverKey.fingerprints
        let idle = try await longestIdleLifetime(of: installation)
        var needs: [String: [ServerKeyNeed]] = [:]
        for use in uses
        where !fingerprints.contains(use.fingerprint) && now < (use.keptTokenUse ?? use.end) + idle {
            let tokens = try await refreshTokens(of: use, in: installation, at: now)
            if !tokens.isEmpty { needs[use.fingerprint] = tokens }
        }
        for (fingerprint, count) in try await installation.store.secondFactorKeys()
        where !fingerprints.contains(fingerprint) {
            needs[fingerprint, default: []].append(ServerKeyNeed(kind: .secondFactors, count: count, until: nil))
        }
        return needs.sorted { $0.key < $1.key }.map { fingerprint, needs in
            ServerKeyState(
                fingerprint: fingerprint, state: .missing,
                firstUntil: uses.first { $0.fingerprint == fingerprint }?.end,
                needs: needs)
        }
    }

    /// Counts the refresh tokens that were last used before a key ceased to be the first one, and adds those that
    /// clients keep.
    ///
    /// Servers change their keys one after the other, so tokens of an earlier key count, too.
    private static func refreshTokens(
        of use: PreviousKeyUse, in installation: Installation, at now: Date
    ) async throws -> [ServerKeyNeed] {
        let families = try await installation.store.familiesLastUsed(through: use.end, at: now)
        let idle = try await longestIdleLifetime(of: installation)
        var needs: [ServerKeyNeed] = []
        if families.count > 0, let used = families.lastUsedAt, let expires = families.expiresAt {
            needs.append(ServerKeyNeed(kind: .refreshTokens, count: families.count, until: min(used + idle, expires)))
        }
        // Not each use is recorded.
        if let kept = use.keptTokenUse, now < kept + RefreshFamily.useResolution + idle {
            needs.append(
                ServerKeyNeed(
                    kind: .keptRefreshTokens, count: nil, until: kept + RefreshFamily.useResolution + idle,
                    lastUsed: kept))
        }
        return needs
    }

    /// Finds the encrypted records of a store by the fingerprint of the server key that opens them.
    private static func sealed(of installation: Installation) async throws -> [String: [ServerKeyNeed]] {
        let store = installation.store
        let lifetime = TimeInterval(installation.recorded.keyLifetime ?? ServerSettings.standardKeyLifetime) * day
        let keys = try await store.signingKeys()
        let identifiers = try await store.identifierKeys()
        let accounts = try await store.accountKeys()
        let certificate = try await store.issuedCertificate()
        let secondFactors = try await store.secondFactorKeys()
        let webhooks = try await store.webhooks()
        var needs: [String: [ServerKeyNeed]] = [:]
        for (fingerprint, key) in zip(installation.serverKey.fingerprints, installation.serverKey.single) {
            var found: [ServerKeyNeed] = []
            let ends = keys.filter(key.opens).map { signing in
                let end = signing.replacedAt ?? signing.signsFrom + lifetime + SigningKeyLifecycle.notice
                return end + SigningKeyLifecycle.retention
            }
            if !ends.isEmpty {
                found.append(ServerKeyNeed(kind: .signingKeys, count: ends.count, until: ends.max()))
            }
            if let count = secondFactors[fingerprint] {
                found.append(ServerKeyNeed(kind: .secondFactors, count: count, until: nil))
            }
            let signed = webhooks.count { webhook in
                [webhook.sealedSecret, webhook.formerSecret?.sealed].compactMap(\.self).contains { sealed in
                    (try? key.open(webhookSecret: sealed, of: webhook.id)) != nil
                }
            }
            if signed > 0 { found.append(ServerKeyNeed(kind: .webhooks, count: signed, until: nil)) }
            if let identifiers, key.opens(identifierKeys: identifiers) {
                found.append(ServerKeyNeed(kind: .identifierKeys, count: nil, until: nil))
            }
            if accounts.contains(where: { key.opens($0.sealed, of: .account(authority: $0.authority)) }) {
                found.append(ServerKeyNeed(kind: .certificateAccount, count: nil, until: nil))
            }
            if let certificate, key.opens(certificate.sealedKey, of: .certificate(chain: certificate.chain)) {
                found.append(ServerKeyNeed(kind: .certificate, count: nil, until: nil))
            }
            needs[fingerprint] = found
        }
        return needs
    }

    /// The longest time in seconds for which a client can leave a refresh token unused.
    private static func longestIdleLifetime(of installation: Installation) async throws -> TimeInterval {
        let store = installation.store
        let recorded = installation.recorded.refreshIdleLifetime ?? 30 * 86_400
        let policy = (try? await store.unregisteredClientPolicy())?.refreshIdleLifetime ?? 0
        return TimeInterval(max(recorded, policy, try await store.longestRefreshIdleLifetime() ?? 0))
    }
}

/// The last time at which a key that is not the first one any more was the first one.
private struct PreviousKeyUse {
    let fingerprint: String
    let end: Date
    /// The last use of a refresh token that its client kept after that; nil if there was none.
    let keptTokenUse: Date?

    /// The last times of all keys of a store, the latest one first.
    ///
    /// - Parameters:
    ///   - margin: The time in seconds for which one of several servers can use a key after it has noted that.
    ///   - now: The current time.
    static func all(of installation: Installation, margin: TimeInterval, at now: Date) -> [PreviousKeyUse] {
        let (fingerprints, isAlone) = (installation.serverKey.fingerprints, installation.database == nil)
        var uses = installation.recorded.serverKeyUses
        uses.note(fingerprints, at: now, isAlone: isAlone)
        let ends = uses.times.filter { $0.key != fingerprints.first }
            .mapValues { isAlone ? $0 : min($0 + margin, now) }
        return ends.sorted { ($1.value, $1.key) < ($0.value, $0.key) }.map { fingerprint, end in
            PreviousKeyUse(
                fingerprint: fingerprint, end: end,
                keptTokenUse: uses.keptTokenUses[fingerprint].flatMap { $0 > end ? $0 : nil })
        }
    }
}

extension ServerKey {
    fileprivate func opens(_ sealed: [UInt8], of owner: CertificateKeyOwner) -> Bool {
        (try? open(certificateKey: sealed, of: owner)) != nil
    }
}
