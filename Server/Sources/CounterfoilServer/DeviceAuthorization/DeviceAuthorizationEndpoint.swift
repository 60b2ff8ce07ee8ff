import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/device_authorization` (RFC 8628 §3.1), at which a device obtains its codes.
struct DeviceAuthorizationEndpoint: Sendable {
    /// The maximum number of device authorizations from one IP address that have not expired.
    static let limitPerSource = 100
    /// The maximum number of device authorizations from all IP addresses together that have not expired.
    static let limit = 20_000
    /// The number of user codes to try; a random code is hardly ever taken.
    private static let attempts = 4

    /// The explanation for a client that cannot use the grant.
    static let wrongType = "a client of this type cannot use the device grant; register a device or a native app"

    /// The explanation for an unregistered client that does not declare the grant.
    static let notDeclared =
        "the grant_types of this client do not contain \(TokenRequest.DeviceCodeExchange.grantType)"

    let settings: ServerSettings
    let authenticator: ClientAuthenticator
    let registry: CachedRegistry
    let store: any UncachedStore
    let audiences: AudienceParameterLog
    let auditor: Auditor
    let random: RandomBytes

    var handlers: [EndpointHandler] { [EndpointHandler(.deviceAuthorization, ofClients: respond)] }

    func respond(
        to request: IncomingRequest, now: Date, client: inout RequestingClient
    ) async throws -> Reply {
        let form = try request.form()
        // RFC 8628 §3.1: the client authenticates as at the token endpoint.
        let authenticated = try await authenticator.authenticate(
            request, form: form, on: .beginning, now: now, client: &client)
        let audience = AudienceParameter(form)
        audiences.note(audience, of: authenticated.client.id, at: .deviceAuthorization, now: now)
        return try await ClientRequestError.attributing(to: authenticated.client.id) {
            do {
                return try await answer(form, of: authenticated.client, request, now: now)
            } catch let error as OAuthError {
                throw audience?.explaining(error) ?? error
            }
        }
    }

    private func answer(
        _ form: FormParameters, of client: RegisteredClient, _ request: IncomingRequest, now: Date
    ) async throws -> Reply {
        // RFC 6749 §5.2: the type of a client decides which grant types it may use.
        guard client.type.usesDeviceGrant else { throw OAuthError(.unauthorizedClient, Self.wrongType) }
        guard client.declaresDeviceGrant else {
            throw OAuthError(.unauthorizedClient, Self.notDeclared)
        }
        let asked = try DeviceAuthorizationRequest(parsing: form)
        if let challenge = asked.presentedChallenge {
            _ = try AuthorizationValidation.pkceUse(of: challenge, under: client.policy.pkce)
        }
        let registry = try await registry.fresh()
        let access = try await registry.access(to: asked.scope, naming: asked.resources, by: client, settings)
        let codes = try await add(access, asked, by: request, now: now)
        let page = settings.issuer.endpoint(Endpoint.device.path)
        let response = DeviceAuthorizationResponse(
            deviceCode: codes.device, userCode: codes.user.description, verificationURI: page,
            verificationURIComplete: settings.issuer.deviceURL(with: codes.user),
            expiresIn: settings.deviceCodeLifetime, interval: DeviceAuthorization.interval)
        return Reply(.ok, .json(response.encoded()))
    }

    /// Stores a device authorization with new codes, and returns them.
    private func add(
        _ access: RequestedAccess, _ asked: DeviceAuthorizationRequest, by request: IncomingRequest, now: Date
    ) async throws -> (device: DeviceCode, user: UserCode) {
        let limits = DeviceAuthorizationLimits(
            perSource: request.countedSource(settings.issuer).map { _ in Self.limitPerSource }, total: Self.limit)
        for _ in 0..<Self.attempts {
            let codes = (device: DeviceCode(random: random), user: UserCode(random: random))
            let authorization = DeviceAuthorization(
                digest: ArtefactDigest(of: codes.device), userCode: ArtefactDigest(of: codes.user),
                clientID: access.client.id, scope: access.scope, resources: access.apis.map(\.resource),
                codeChallenge: asked.presentedChallenge?.challenge, requestedAt: now,
                expiresAt: now.addingTimeInterval(TimeInterval(settings.deviceCodeLifetime)), source: request.source,
                userAgent: request.head.headerFields[.userAgent] ?? "",
                deviceName: asked.deviceName.flatMap { DeviceName($0)?.description })
            switch try await store.addDeviceAuthorization(authorization, within: limits) {
            case .added: return codes
            case .userCodeTaken: continue
            case .tooMany:
                await auditor.refuse(
                    .throttled, because: .throttledSource, request, client: access.client.id,
                    detail: "device authorization", now: now)
                throw TooMany()
            case .clientDeleted: throw OAuthError(.invalidClient, "the client was deleted")
            }
        }
        throw TransientFailure(reason: "\(Self.attempts) random user codes were taken")
    }

    /// The error when too many device authorizations are pending: 429 with `Retry-After`.
    struct TooMany: Refusing {
        private static let retryAfter = 60

        var refusal: Refusal {
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooBusy,
                description: "too many device authorizations are pending; try again in \(Self.retryAfter) seconds",
                retryAfter: Self.retryAfter)
        }
    }
}

extension Issuer {
    /// Returns the URL of the page on which a user types a code, with the code in its query (RFC 8628 §3.3.1).
    func deviceURL(with code: UserCode) -> String {
        endpoint(Endpoint.device.path) + "?" + FormParameters(["user_code": code.description]).encoded
    }
}
