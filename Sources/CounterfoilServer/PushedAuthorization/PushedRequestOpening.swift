import CounterfoilProtocol
import Foundation

extension AuthorizationFlow {
    /// Parses the authorization request that a browser brings or a page has carried.
    ///
    /// With the `request_uri` of a pushed request, the parameters are those that the client pushed. All parameters
    /// beside `client_id` and `request_uri` are then ignored (RFC 9126 §4, RFC 9101 §5).
    ///
    /// - Throws: ``ResponseTargetError``, which is shown on a page.
    func parse(_ form: FormParameters, now: Date) async throws -> ParsedAuthorizationRequest {
        guard let text = try? form.single("request_uri"), text.hasPrefix(PushedRequestURI.prefix) else {
            return try ParsedAuthorizationRequest(form)
        }
        let target: AuthorizationRequest.ResponseTarget
        do {
            target = try AuthorizationRequest.ResponseTarget(
                parsing: FormParameters(form.pairs.filter { $0.name == "client_id" }))
        } catch { throw ResponseTargetError.target(error) }
        // RFC 9126 §2.2: the request is bound to the client, so another client_id finds none.
        guard let uri = PushedRequestURI(text),
            let request = try await store.openPushedRequest(
                ArtefactDigest(of: uri), of: target.clientID, at: now, until: settings.pageEnd(from: now))
        else { throw ResponseTargetError.pushedRequest(of: target.clientID) }
        return try ParsedAuthorizationRequest(request, at: uri)
    }

    /// Uses up the pushed request to which a refusal responds, so that the client gets one response at most.
    ///
    /// - Returns: The refusal; an error for a page if another response to the request came first.
    func completing(_ refused: RedirectableError) async -> any Error {
        guard let pushed = refused.pushedRequest else { return refused }
        do {
            let isFirst = try await store.removePushedRequest(pushed)
            return isFirst ? refused : ResponseTargetError.pushedRequest(of: refused.client.id)
        } catch {
            // The request expires by itself, and the client must not wait for its response.
            return refused
        }
    }
}
