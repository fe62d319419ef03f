import java.io.InputStream;
import java.lang.reflect.Field;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts DynamoDB Local on loopback, which its own main class cannot do, and ends it when standard input closes:
 * the system closes the pipe however the parent died, so no engine outlives the run that started it.
 *
 * In front of DynamoDB Local, which answers the pages of every site, it refuses what the package internal/loopback
 * refuses to web pages.
 */
public final class Launcher extends Handler.Wrapper {
    private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

    private Launcher(Handler engine) {
        super(engine);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        HttpFields headers = request.getHeaders();
        String host = headers.get(HttpHeader.HOST);
        String agent = headers.get(HttpHeader.USER_AGENT);
        String refusal = null;
        if (host == null || !NAMES.contains(host.replaceFirst(":[0-9]*$", ""))) {
            refusal = "DynamoDB Local answers only to localhost and 127.0.0.1: send one of these as the header Host";
        } else if (headers.contains(HttpHeader.ORIGIN) || headers.contains("Sec-Fetch-Site") || agent != null && agent.startsWith("Mozilla/")) {
            refusal = "a request of a browser: no web page may use DynamoDB Local, and a program sends neither Origin nor Sec-Fetch-Site, "
                    + "nor a User-Agent that begins with Mozilla/";
        }
        if (refusal == null) {
            return super.handle(request, response, callback);
        }
        response.setStatus(403);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        Content.Sink.write(response, true, "{\"error\":\"" + refusal + "\"}\n", callback);
        return true;
    }

    public static void main(String[] args) throws Exception {
        Thread watch = new Thread(() -> {
            try {
                InputStream in = System.in;
                while (in.read() >= 0) { }
            } catch (java.io.IOException ended) {
                // A broken pipe means the same as a closed one.
            }
            Runtime.getRuntime().halt(0);
        });
        watch.setDaemon(true);
        watch.start();

        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(args);
        Field field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        Server server = (Server) field.get(proxy);
        server.setHandler(new Launcher(server.getHandler()));
        for (Connector connector : server.getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
            // DynamoDB Local refuses -port 0, its server does not: the system picks a free port without a race.
            ((ServerConnector) connector).setPort(Integer.getInteger("onesynth.port", 0));
        }
        proxy.start();
        for (Connector connector : server.getConnectors()) {
            System.out.println("listening " + ((ServerConnector) connector).getLocalPort());
        }
        System.out.flush();
        proxy.join();
    }
}
