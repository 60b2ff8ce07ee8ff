package import HTTPTypes

/// The routing of requests to endpoints, by host name and path.
package struct Routing: Sendable {
    /// The result of routing one request.
    package enum Outcome: Sendable, Hashable {
        /// An endpoint has this path at the origin of the request.
        case endpoint(RouteTable.Route)
        /// No endpoint has this path at the origin of the issuer; it may be the path of a static file.
        case noEndpoint
        /// No endpoint has this path at the callback origin; it may be the path of a stylesheet.
        case notAtCallbackOrigin
        /// The host name does not belong to the server (RFC 9110 §15.5.20).
        case misdirected

        /// The route to the endpoint; nil for every outcome but ``endpoint(_:)``.
        package var route: RouteTable.Route? { if case .endpoint(let route) = self { route } else { nil } }
    }

    private let settings: ServerSettings
    /// The routes at the origin of the issuer.
    package let routes: RouteTable
    private let callbackRoutes: RouteTable

    package init(_ endpoints: [Endpoint], settings: ServerSettings) {
        self.settings = settings
        routes = RouteTable(endpoints, settings: settings)
        callbackRoutes = .ofCallbackOrigin(endpoints)
    }

    /// Finds the endpoint of a request; `path` is the request target without the query.
    package func outcome(of request: HTTPRequest, path: some StringProtocol) -> Outcome {
        switch settings.origin(of: request) {
        case .issuer:
            return routes.route(path).map(Outcome.endpoint) ?? .noEndpoint
        case .callback:
            return callbackRoutes.route(path).map(Outcome.endpoint) ?? .notAtCallbackOrigin
        case .other:
            // A probe may send a health check to the IP address of the process instead of its host name.
            guard let route = routes.route(path), route.endpoint.isHealth else { return .misdirected }
            return .endpoint(route)
        }
    }
}
