@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The logos of unregistered clients: fetched from their hosts, encoded again, and kept in bounded memory.
///
/// Pages show a copy at this server (draft-ietf-oauth-client-id-metadata-document §6.7). With a link to the host of the
/// client, this host would learn who opens the page and when. A logo that cannot be fetched or decoded is no error: the
/// page shows initials.
actor ClientLogos {
    /// The maximum size of the file of a logo in bytes.
    static let byteLimit = 256 * 1024
    /// The maximum number of logos in memory.
    static let limit = 100
    /// The time in seconds after which a logo is fetched again.
    static let age: TimeInterval = 3600
    /// The time in seconds for which a logo that cannot be used is not fetched again.
    static let ageOfFailure: TimeInterval = 5 * 60

    private static let mediaTypes: Set<String> = ["image/png", "image/jpeg"]

    /// A logo with its identifier, or nil because the file cannot be used.
    private struct Entry {
        let logo: (id: LogoIdentifier, content: Logo)?
        let freshUntil: Date
        var usedAt: Date
    }

    private let files: ClientFiles
    private let encoder: LogoEncoder
    private let patience: Duration
    private var entries: [String: Entry] = [:]
    private var loading: [String: Task<Void, Never>] = [:]
    private var waiting: [String: [AsyncStream<Void>.Continuation]] = [:]

    /// Creates an empty memory of logos.
    ///
    /// - Parameters:
    ///   - fetcher: The fetcher of the files, whose requests are limited apart from those for documents.
    ///   - encoder: The encoder of the process.
    ///   - patience: The maximum time for which a page waits for a logo.
    init(fetcher: any ClientFileFetcher, encoder: LogoEncoder, patience: Duration = .seconds(2)) {
        files = ClientFiles(
            fetcher: fetcher,
            limits: ClientFiles.Limits(
                running: 8, perMinute: RequestLimits(perFile: 6, perHost: 10, total: 100), files: 8))
        self.encoder = encoder
        self.patience = patience
    }

    /// Returns a logo in memory; nil if there is none with this identifier.
    func logo(_ id: LogoIdentifier) -> Logo? {
        entries.values.first { $0.logo?.id == id }?.logo?.content
    }

    /// Returns the identifier of a client's logo, after it is fetched if needed; nil for none.
    ///
    /// After the maximum time, the result is the former logo or nil, and the logo is fetched for the next page.
    func logo(of client: RegisteredClient, now: Date) async -> LogoIdentifier? {
        guard let url = client.logoURI else { return nil }
        if entries[url.rawValue].map({ $0.freshUntil <= now }) ?? true { await load(url, now: now) }
        return knownLogo(of: client, now: now)
    }

    /// Returns the identifier of a client's logo if it is in memory; sends no request.
    func knownLogo(of client: RegisteredClient, now: Date) -> LogoIdentifier? {
        guard let key = client.logoURI?.rawValue else { return nil }
        entries[key]?.usedAt = now
        return entries[key]?.logo?.id
    }

    private func load(_ url: AbsoluteURI, now: Date) async {
        let key = url.rawValue
        if loading[key] == nil {
            loading[key] = Task { await self.fetch(url, now: now) }
        }
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        waiting[key, default: []].append(continuation)
        await withTaskGroup(of: Void.self) { [patience] group in
            group.addTask { for await _ in end {} }
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }

    private func fetch(_ url: AbsoluteURI, now: Date) async {
        let key = url.rawValue
        do {
            let logo = try await encodedLogo(at: url, now: now)
            keep(Entry(logo: (logo.id, logo), freshUntil: now.addingTimeInterval(Self.age), usedAt: now), for: key)
        } catch ClientDocumentRefusal.busy, LogoRefusal.busy {
            // The next page tries again.
        } catch {
            keep(Entry(logo: nil, freshUntil: now.addingTimeInterval(Self.ageOfFailure), usedAt: now), for: key)
        }
        loading[key] = nil
        for continuation in waiting.removeValue(forKey: key) ?? [] { continuation.finish() }
    }

    private func encodedLogo(at url: AbsoluteURI, now: Date) async throws -> Logo {
        // Several requests wait for it, so it belongs to the trace of none.
        let file = try await files.file(
            .logo,
            ClientFileRequest(
                url: url, accepting: Self.mediaTypes.sorted().joined(separator: ", "), byteLimit: Self.byteLimit),
            now: now)
        // Only the encoded logo is kept.
        files.forget(.logo, url)
        let type = file.contentType.flatMap { ParameterizedValue(parsing: Array($0.utf8)) }?.value
        guard let type, Self.mediaTypes.contains(type), file.body.count <= Self.byteLimit else {
            throw LogoRefusal.notAnImage
        }
        return try await encoder.logo(from: file.body)
    }

    private func keep(_ entry: Entry, for key: String) {
        entries[key] = entry
        guard entries.count > Self.limit, let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }) else {
            return
        }
        entries[oldest.key] = nil
    }
}
