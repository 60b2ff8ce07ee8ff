import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Logging

/// `/admin/keys` and the pages below it: the signing keys, with what needs them, and the forms that replace them.
struct SigningKeyPages: Sendable {
    let console: Console

    /// The query parameter with the name of an algorithm.
    private static let algorithmParameter = "algorithm"
    /// The query parameter with the identifier of a key.
    private static let keyParameter = "key"
    /// The field with the newest key of an algorithm, as the page has shown it.
    private static let shownField = "current"
    private static let beginningField = "beginning"

    /// The values of the field `beginning`.
    private enum Beginning: String, CaseIterable {
        case notice
        case now

        var rotation: KeyRotation.Beginning {
            switch self {
            case .notice: .afterNotice
            case .now: .atOnce
            }
        }

        var label: (text: SystemMessage, hint: SystemMessage) {
            switch self {
            case .notice: (.afterNotice, .afterNoticeHint)
            case .now: (.atOnce, .atOnceHint)
            }
        }
    }

    func list(_ exchange: Console.Exchange) async throws -> Reply {
        let uses = try await uses(exchange)
        let page = KeysPage(
            console: console.head(exchange, in: .administration), notice: exchange.notice(SystemNotice.self),
            serverPath: console.path(.server), rows: uses.map { row($0, exchange) })
        return Reply(.ok, .page(page))
    }

    func askToRotate(_ exchange: Console.Exchange) async throws -> Reply {
        rotation(of: try await newest(exchange), exchange)
    }

    func rotate(_ exchange: Console.Exchange) async throws -> Reply {
        let use = try await newest(exchange)
        let (form, _) = try console.form(exchange)
        guard let beginning = Beginning(rawValue: try form.value(Self.beginningField)) else {
            throw PageProblem.noDecision
        }
        let made = try await console.serverAdministration(by: exchange).rotate(
            use.key.algorithm, beginning.rotation, replacing: KeyIdentifier(try form.value(Self.shownField)))
        guard made != nil else { return rotation(of: try await newest(exchange), exchange, .rotatedMeanwhile) }
        return .done(SystemNotice.rotated, at: console.path(.keys))
    }

    func askToWithdraw(_ exchange: Console.Exchange) async throws -> Reply {
        guard let use = try await named(exchange) else { throw NotFoundError() }
        return withdrawal(of: use, exchange)
    }

    func withdraw(_ exchange: Console.Exchange) async throws -> Reply {
        _ = try console.form(exchange)
        guard let use = try await named(exchange) else { return .done(SystemNotice.gone, at: console.path(.keys)) }
        switch try await console.serverAdministration(by: exchange).withdraw(use.key.id) {
        case .withdrawn:
            console.logger.notice(
                "withdrew a signing key",
                metadata: [
                    "key": "\(use.key.id)", "administrator": "\(exchange.user.id)", "request": "\(exchange.request.id)",
                ])
            return .done(SystemNotice.withdrawn, at: console.path(.keys))
        case .notFound: return .done(SystemNotice.gone, at: console.path(.keys))
        case .changedMeanwhile: return withdrawal(of: use, exchange, .rotatedMeanwhile)
        }
    }

    private func uses(_ exchange: Console.Exchange) async throws -> [SigningKeyUse] {
        let settings = console.settings
        let policy = try? await console.registry.atArrival().effectiveUnregisteredClientPolicy(settings)
        return try await SigningKeyUse.all(
            in: console.store,
            lifetimes: TokenLifetimes(accessToken: settings.accessTokenLifetime, idToken: settings.idTokenLifetime),
            unregistered: policy, at: exchange.now)
    }

    /// Returns the newest key of the algorithm that the query names; throws `NotFoundError` if there is none.
    private func newest(_ exchange: Console.Exchange) async throws -> SigningKeyUse {
        let name = exchange.queried(Self.algorithmParameter)
        let newest = try await uses(exchange).last { $0.key.algorithm.rawValue == name && $0.key.replacedAt == nil }
        guard let newest else { throw NotFoundError() }
        return newest
    }

    private func named(_ exchange: Console.Exchange) async throws -> SigningKeyUse? {
        let name = exchange.queried(Self.keyParameter)
        return try await uses(exchange).first { $0.key.id.rawValue == name }
    }

    private func path(_ endpoint: Endpoint, _ parameter: String, _ value: String) -> String {
        console.path(endpoint) + "?" + FormParameters([parameter: value]).encoded
    }

    private func row(_ use: SigningKeyUse, _ exchange: Console.Exchange) -> KeysPage.Row {
        let (key, words) = (use.key, exchange.words)
        let state: SystemMessage =
            switch use.state {
            case .published: .keyPublished
            case .signing: .keySigning
            case .retired: .keyRetired
            }
        let start = use.state == .published ? key.signsFrom : use.since
        return KeysPage.Row(
            id: key.id.rawValue, algorithm: key.algorithm.rawValue,
            state: words(LocalizedText(state, ["time": .text(words.moment(start))])),
            isSigning: use.state == .signing,
            tokens: tokens(of: use, exchange), uses: uses(of: use, words),
            rotatePath: key.replacedAt == nil
                ? path(.rotateKey, Self.algorithmParameter, key.algorithm.rawValue) : nil,
            withdrawPath: path(.withdrawKey, Self.keyParameter, key.id.rawValue))
    }

    private func tokens(of use: SigningKeyUse, _ exchange: Console.Exchange) -> String {
        let words = exchange.words
        guard let end = use.tokensEnd else { return words(SystemMessage.tokensOpen) }
        guard end > exchange.now else { return words(SystemMessage.tokensExpired) }
        return words(LocalizedText(SystemMessage.tokensUntil, ["time": .text(words.moment(end))]))
    }

    private func uses(of use: SigningKeyUse, _ words: Localizer) -> [String] {
        if use.state == .retired { return [words(SystemMessage.formerTokens)] }
        var uses: [String] = []
        if use.signsAccessTokens { uses.append(words(SystemMessage.accessTokens)) }
        if use.clients > 0 {
            uses.append(words(LocalizedText(SystemMessage.idTokens, ["count": .number(use.clients)])))
        }
        return uses.isEmpty ? [words(SystemMessage.unused)] : uses
    }

    private func rotation(
        of use: SigningKeyUse, _ exchange: Console.Exchange, _ problem: SystemMessage? = nil
    ) -> Reply {
        let words = exchange.words
        let action = path(.rotateKey, Self.algorithmParameter, use.key.algorithm.rawValue)
        let page = ChangeKeyPage(
            console: console.head(exchange, in: .administration),
            problems: problem.map { [FormProblem(words($0))] } ?? [],
            keysPath: console.path(.keys), key: row(use, exchange),
            beginning: FormChoices(
                Self.beginningField,
                Beginning.allCases.map { beginning in
                    FormChoices.Choice(
                        beginning.rawValue, label: words(beginning.label.text), detail: words(beginning.label.hint),
                        isChosen: beginning == .notice)
                }),
            effects: [], action: action, ticket: console.ticket(exchange, for: action))
        return Reply(problem == nil ? .ok : .conflict, .page(page))
    }

    private func withdrawal(
        of use: SigningKeyUse, _ exchange: Console.Exchange, _ problem: SystemMessage? = nil
    ) -> Reply {
        let words = exchange.words
        var effects: [String] = []
        if use.signsAccessTokens {
            effects.append(
                use.accessTokenSeconds > 0
                    ? words(LocalizedText(SystemMessage.accessTokensEnd, ["count": .number(use.accessTokenSeconds)]))
                    : words(SystemMessage.accessTokensOver))
        }
        if use.clients > 0 {
            effects.append(words(LocalizedText(SystemMessage.idTokensEnd, ["count": .number(use.clients)])))
        }
        if use.key.replacedAt.map({ exchange.now < $0 }) ?? true { effects.append(words(SystemMessage.successor)) }
        let action = path(.withdrawKey, Self.keyParameter, use.key.id.rawValue)
        let page = ChangeKeyPage(
            console: console.head(exchange, in: .administration),
            problems: problem.map { [FormProblem(words($0))] } ?? [],
            keysPath: console.path(.keys), key: row(use, exchange), beginning: nil, effects: effects, action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(problem == nil ? .ok : .conflict, .page(page))
    }
}
