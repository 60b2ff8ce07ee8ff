import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// Reads the facts that the consent page tells about a client that no person registered.
struct UnregisteredClientIntroductions: Sendable {
    let store: any UnregisteredClientStore
    /// The logos of unregistered clients; nil if the server fetches none.
    let logos: ClientLogos?
    let suffixes: PublicSuffixList?

    /// Returns the introduction of a client; nil for a client that a person registered.
    func introduction(of client: RegisteredClient, now: Date) async throws -> UnregisteredClientIntroduction? {
        guard client.isUnregistered else { return nil }
        async let logo = logos?.logo(of: client, now: now)
        let userCount = try await store.userCount(
            of: client.id, atMost: UnregisteredClientIntroduction.userLimit + 1)
        return UnregisteredClientIntroduction(
            host: client.shownHost(suffixes), userCount: userCount, logo: await logo, now: now)
    }
}

/// The facts that the consent page tells about an unregistered client, beside the metadata.
struct UnregisteredClientIntroduction: Sendable {
    /// The number of users above which the page does not count them.
    static let userLimit = 1000

    /// The host of the client's document; nil if the client registered itself.
    let host: ShownHost?
    /// The number of users who have allowed the client something, at most ``userLimit`` and one more.
    let userCount: Int
    let logo: LogoIdentifier?
    let now: Date

    /// Creates the part of the page.
    func section(
        of client: RegisteredClient, at destination: RedirectDestination, in words: Localizer
    ) -> ConsentPage.UnregisteredClient {
        ConsentPage.UnregisteredClient(
            host: host, name: client.ownName, use: use(of: client, in: words), isOnDevice: destination.isLoopback)
    }

    /// When the client was first seen, and how many people use it, in one or two sentences.
    private func use(of client: RegisteredClient, in words: Localizer) -> String {
        let isNew = Self.day(client.createdAt) == Self.day(now)
        let seen =
            isNew
            ? words(LocalizedText("consent.seen-today"))
            : words(LocalizedText("consent.seen-since", ["date": .date(client.createdAt)]))
        switch userCount {
        case ...0: return seen
        case ...Self.userLimit:
            return seen + " " + words(LocalizedText("consent.users", ["count": .number(userCount)]))
        default: return seen + " " + words(LocalizedText("consent.users-many"))
        }
    }

    /// Returns the number of the day in UTC.
    private static func day(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / 86_400).rounded(.down)) }
}
