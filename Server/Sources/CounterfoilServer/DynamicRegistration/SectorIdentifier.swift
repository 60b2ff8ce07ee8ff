@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The check of a `sector_identifier_uri`: the file at this URL lists every redirect URI of the client (OpenID Connect
/// Registration §5).
struct SectorIdentifier: Sendable {
    /// The files that clients publish; nil if the server was created without a fetcher.
    let files: ClientFiles?
    /// The request that registers a client.
    let request: RequestContext?

    /// The maximum size of the file in bytes.
    private static let byteLimit = 32 * 1024

    /// Fetches the file of a registration and checks it; does nothing if the registration names none.
    func check(_ registration: CheckedRegistration, now: Date) async throws {
        guard let url = registration.sectorIdentifierURI else { return }
        guard let files else { throw Self.refusal("is not supported; omit it") }
        let wanted = ClientFileRequest(url: url, accepting: "application/json", byteLimit: Self.byteLimit)
        let file: ClientFiles.File
        do { file = try await files.file(.sectorIdentifier, wanted, for: request, now: now) } catch {
            throw try Self.failure(error)
        }
        do {
            try Self.check(file.body, lists: registration.client.redirectURIs)
        } catch {
            // The developer corrects the file and registers the client again.
            files.forget(.sectorIdentifier, url)
            throw error
        }
    }

    private static func check(
        _ body: [UInt8], lists redirectURIs: [RedirectURI]
    ) throws(ClientMetadata.Refusal) {
        guard let listed = try? JSONDecoder().decode(Set<String>.self, from: Data(body)) else {
            throw refusal("does not lead to a JSON array of strings")
        }
        if let missing = redirectURIs.first(where: { !listed.contains($0.rawValue) }) {
            throw refusal("does not list the redirect URI \(missing.rawValue.prefix(200))")
        }
    }

    private static func failure(_ refusal: ClientDocumentRefusal) throws -> ClientMetadata.Refusal {
        switch refusal {
        case .busy, .tooMany: throw Busy()
        case .notFetched(let failure): Self.refusal("cannot be fetched: \(failure.developerText)")
        case .status(let status): Self.refusal("cannot be fetched: its host answered \(status); it must be 200")
        case .notAccepted, .badURL, .contentType, .invalid: Self.refusal("cannot be fetched")
        }
    }

    private static func refusal(_ reason: String) -> ClientMetadata.Refusal {
        ClientMetadata.Refusal("sector_identifier_uri \(reason)")
    }

    /// The error when the server sends too many requests to other hosts.
    struct Busy: Refusing {
        private static let retryAfter = 60

        var refusal: Refusal {
            Refusal(
                .serviceUnavailable, .temporarilyUnavailable, .tooBusy,
                description: "sector_identifier_uri cannot be fetched now; try again in \(Self.retryAfter) seconds",
                retryAfter: Self.retryAfter)
        }
    }
}
