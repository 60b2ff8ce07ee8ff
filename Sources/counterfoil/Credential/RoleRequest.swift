import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
import HTTPTypes

/// The temporary credentials of a role.
struct RoleCredentials {
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String
    /// The time of expiration, such as `2026-11-23T20:00:00Z`.
    let expiration: String
}

/// A request for the credentials of a role (AssumeRoleWithWebIdentity of the AWS Security Token Service, version
/// 2011-06-15).
struct RoleRequest {
    let service: EndpointURL
    let role: String
    let sessionName: String
    let duration: Int?
    /// The ID token or access token, which is sent in the body only.
    let token: String

    /// Sends the request and reads the response.
    func credentials() async throws -> RoleCredentials {
        let response: TransportResponse
        do {
            let transport: any HTTPTransport = .standard
            response = try await transport.send(
                TransportRequest(
                    service, method: .post,
                    headerFields: [.contentType: "application/x-www-form-urlencoded", .accept: "text/xml"],
                    body: RequestBody(form.encoded.utf8)))
        } catch {
            throw Failure(ofSignedIn: SignInError(error))
        }
        let elements = XMLElements(response.body)
        guard response.statusCode == 200 else { throw refusal(response.statusCode, elements) }
        let parent = "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials"
        guard let id = elements?["\(parent)/AccessKeyId"], let secret = elements?["\(parent)/SecretAccessKey"],
            let session = elements?["\(parent)/SessionToken"], let expiration = elements?["\(parent)/Expiration"],
            (try? Date(expiration, strategy: .iso8601)) != nil
                || (try? Date(expiration, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) != nil
        else {
            throw Failure(
                .unsafe, "the response of \(service.origin) contains no credentials; check --sts-endpoint")
        }
        return RoleCredentials(
            accessKeyID: id, secretAccessKey: secret, sessionToken: session, expiration: expiration)
    }

    private var form: FormParameters {
        var pairs = [
            FormParameters.Pair(name: "Action", value: "AssumeRoleWithWebIdentity"),
            FormParameters.Pair(name: "Version", value: "2011-06-15"),
            FormParameters.Pair(name: "RoleArn", value: role),
            FormParameters.Pair(name: "RoleSessionName", value: sessionName),
            FormParameters.Pair(name: "WebIdentityToken", value: token),
        ]
        if let duration { pairs.append(FormParameters.Pair(name: "DurationSeconds", value: "\(duration)")) }
        return FormParameters(pairs)
    }

    private func refusal(_ status: Int, _ elements: XMLElements?) -> Failure {
        let code = elements?["ErrorResponse/Error/Code"]
        let words = [code, elements?["ErrorResponse/Error/Message"]].compactMap(\.self)
        // A server may repeat the request in its error; the token must not get into a log that way.
        let reason = words.isEmpty ? "no reason" : words.joined(separator: ": ").replacing(token, with: "…")
        let isTemporary = status == 429 || status >= 500 || code == "Throttling" || code == "IDPCommunicationError"
        return Failure(
            isTemporary ? .unavailable : .refused,
            "\(service.origin) did not return credentials of the role (status \(status)): \(reason.prefix(500))")
    }
}
