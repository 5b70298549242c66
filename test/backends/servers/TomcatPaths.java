// Tomcat with a servlet at /api/login and another for everything else; the argument is a folder for
// its files. Prints its port.

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.logging.LogManager;
import org.apache.catalina.startup.Tomcat;

class TomcatPaths {
  static final class Answer extends HttpServlet {
    private final String text;

    Answer(String text) {
      this.text = text;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
      response.getWriter().write(text);
    }
  }

  public static void main(String[] arguments) throws Exception {
    LogManager.getLogManager().reset();
    var tomcat = new Tomcat();
    tomcat.setBaseDir(arguments[0]);
    tomcat.setHostname("localhost");
    tomcat.setPort(0);
    var context = tomcat.addContext("", arguments[0]);
    Tomcat.addServlet(context, "guarded", new Answer("guarded"));
    Tomcat.addServlet(context, "other", new Answer("other"));
    context.addServletMappingDecoded("/api/login", "guarded");
    context.addServletMappingDecoded("/", "other");
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    tomcat.start();
    System.out.println(tomcat.getConnector().getLocalPort());
    System.in.read();
    System.exit(0);
  }
}
